/* documents: what the API server, extenders and files say, walked through where it stands: each
 * text in it is shown to names_take. Malformed and cut ones as far as they go. */
#ifndef CTL_REDACT_DOCUMENTS_H
#define CTL_REDACT_DOCUMENTS_H

#include "ctl/redact/names.h"

/* One JSON document, or several, one behind the other. */
void documents_json(struct names *n, struct str text);
/* An object in protobuf with its envelope, or a list. */
void documents_protobuf(struct names *n, struct str body);
/* A watch in protobuf: frames, each with its length before it. */
void documents_frames(struct names *n, struct str stream);
/* A configuration: YAML or JSON. */
void documents_yaml(struct names *n, struct str text);
/* Whichever of these it is, by its first byte; stream: it may be a watch. */
void documents_any(struct names *n, struct str body, bool stream);

#endif
