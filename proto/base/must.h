/* must: assertions that stay on in release builds. */
#ifndef MUST_H
#define MUST_H

/* Aborts the process, naming the place, when an invariant of our own does not hold. Never use it
 * on anything that a peer, a file or the API server sent: that is refused, counted and logged. */
#define must(condition) ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))

/* What is to be done before that, once: whatever others need to find out why. Must not fail itself.
 */
void must_first(void (*call)(void));

_Noreturn void must_failed(const char *condition, const char *file, int line);

#endif
