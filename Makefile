# make            build everything into build/release/bin (links in build/bin)
# make run        install what is missing, build, start everything on an embedded API server and
#                 tell a story of seven scenes, then a stream of pods until Ctrl-C; DEMO_SECONDS=20: so long
# make test       install what is missing, build, run all tests; ends in "N passed, N failed"
# make asan       unit tests under ASan and UBSan          make tsan   those with threads under TSan
# make sim        the whole system in virtual time, SEEDS=N    make mutants  bugs that it must find
# make fuzz       fuzz every parser for FUZZ_TIME seconds  make bench  ratios against kube-scheduler
# make nightly    what is made at random, more of it, from a new seed (BERTH_SEED=N: from that one)
# make scale      cold start, pods/s, take-over and memory at 100,000 nodes, 1,000,000 pods
# make bench-core CPU time of decisions, messages and events without an API server
# make check      fmt-check lint tidy docs-check man-check test asan
# make fmt        format with clang-format-14              make lint   clang-tidy-14
# make upstream   Kubernetes' own tests of its scheduler, played to kube-scheduler and to berth
# make docs       what is made of the sources, for people      make tidy   the project's own style check
# make handbook   docs/ as one page of HTML, build/docs/handbook.html
# make e2e        end to end on both API servers           make integration  cases on the real one
# make install PREFIX=/usr/local

MODE  ?= release
BUILD := build/$(MODE)
BIN   := $(BUILD)/bin
CC    ?= gcc

CFLAGS_release := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
CFLAGS_asan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS_tsan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wvla -Wwrite-strings -Wformat=2 -Werror
# Scores must be the same on every machine: no fused multiply-add behind the program's back.
CPPFLAGS += -I. -D_GNU_SOURCE
CFLAGS   += -std=c11 -ffp-contract=off $(CFLAGS_$(MODE)) $(WARNINGS)

# The commit that --version tells: git's where this folder is a work tree of its own, else what one says
# (make BERTH_COMMIT=HASH: a package, an image), else none.
ifndef BERTH_COMMIT
BERTH_COMMIT := $(if $(wildcard .git),$(shell GIT_OPTIONAL_LOCKS=0 git describe --always --dirty --abbrev=64 --exclude='*' 2>/dev/null))
endif

PROCESSES := watcher queue scheduler binder
MAINS     := proto/document.c ctl/main.c ctl/serve/main.c tests/apiserver/main.c tests/bench/core/main.c tests/simulation/main.c tests/fidelity/cel/answer.c \
             $(PROCESSES:%=%/main.c) scheduler/extender/main.c
objects    = $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(MAINS),$(wildcard $(1))))
BASE      := $(call objects,proto/base/*.c)
# An archive, so that a process maps only the libraries that it uses.
PROTO     := $(BUILD)/libproto.a
CEL       := $(call objects,scheduler/cel/*.c)
DEVICES   := $(call objects,scheduler/devices/*.c)
# scheduler's rooms, in the order in which they stand on each other.
ROOMS     := table catalog rules rules/plugins worker cluster merge tracing coordinator
SCHEDULER := $(call objects,scheduler/*.c $(ROOMS:%=scheduler/%/*.c)) $(CEL) $(DEVICES)
APISERVER := $(call objects,tests/apiserver/*.c)
# The program berth: all rooms of ctl/ but those of berth-serve.
CTL       := $(call objects,ctl/*.c $(addsuffix *.c,$(filter-out ctl/serve/,$(wildcard ctl/*/))))
BENCHCORE := $(call objects,tests/bench/core/*.c)
# Loops over columns, for which vectorising is worth it; the other modes mean their flags.
$(BUILD)/scheduler/table/kernels.o: CFLAGS_release += -O3
LIBS      := -lzmq -lczmq -lmsgpackc -lcurl -lnghttp2 -lssl -lcjson -lyaml -lzstd -lm

PROGRAMS := $(PROCESSES:%=$(BIN)/berth-%) $(BIN)/berth-extender $(BIN)/berth $(BIN)/berth-serve $(BIN)/apiserver
TESTS    := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(shell find tests/unit -name 'test_*.c' | sort))

all: $(PROGRAMS)
	@ln -sfn berth $(BIN)/kubectl-berth # a plugin of kubectl by its name
	@[ $(MODE) != release ] || { mkdir -p build && ln -sfn release/bin build/bin; }

$(PROTO): $(call objects,proto/*.c proto/*/*.c proto/kube/*/*.c)
	@echo "  AR   $@"; rm -f $@; $(AR) rcs $@ $^

# The archive last: of an object that both have, the one that is named is taken.
LINK = @mkdir -p $(@D); echo "  LINK $@"; $(CC) $(CFLAGS) $(LDFLAGS) $(filter-out %.a,$^) $(filter %.a,$^) -Wl,--as-needed $(LIBS) -o $@

# Programs know their commit; the same object in the archive, for tests, does not (proto/commit.c).
COMMITTED := $(BUILD)/commit.o
$(BUILD)/commit.txt: ALWAYS
	@mkdir -p $(@D); echo '$(BERTH_COMMIT)' | cmp -s - $@ || echo '$(BERTH_COMMIT)' >$@
$(COMMITTED): proto/commit.c proto/commit.h $(BUILD)/commit.txt
	@echo "  CC   $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -DCOMMIT='"$(BERTH_COMMIT)"' -c $< -o $@
$(filter-out %/apiserver,$(PROGRAMS)): $(COMMITTED)

# A process is its own folder plus proto; nothing links another process's folder. Only berth, which
# simulates, also links the scheduler's; the small API server stands on the base alone.
$(BIN)/berth-watcher: $(BUILD)/watcher/main.o $(call objects,watcher/*.c) $(PROTO)
	$(LINK)
$(BIN)/berth-queue: $(BUILD)/queue/main.o $(call objects,queue/*.c queue/*/*.c) $(PROTO)
	$(LINK)
$(BIN)/berth-scheduler: $(BUILD)/scheduler/main.o $(SCHEDULER) $(PROTO)
	$(LINK)
$(BIN)/berth-binder: $(BUILD)/binder/main.o $(call objects,binder/*.c binder/*/*.c) $(PROTO)
	$(LINK)
$(BIN)/berth-extender: $(BUILD)/scheduler/extender/main.o $(call objects,scheduler/extender/*.c) $(PROTO)
	$(LINK)
$(BIN)/berth: $(BUILD)/ctl/main.o $(CTL) $(BUILD)/ctl/serve/flags.o $(BUILD)/ctl/serve/label_rules.o $(SCHEDULER) $(PROTO)
	$(LINK)
$(BIN)/berth-serve: LIBS += -lmicrohttpd -lgnutls
$(BIN)/berth-serve: $(BUILD)/ctl/serve/main.o $(call objects,ctl/serve/*.c) $(PROTO)
	$(LINK)
$(BIN)/apiserver: LIBS += -lmicrohttpd -lgnutls
$(BIN)/apiserver: $(BUILD)/tests/apiserver/main.o $(APISERVER) $(BASE)
	$(LINK)

$(BUILD)/ctl/serve/files.o: $(wildcard ctl/page/*) # they become part of it

# What the processes say and look for: the texts in their sources, whole and, at slashes, in pieces, and
# the words of their tables. berth record --redact leaves these as they are (ctl/redact/vocabulary.h).
SPEAKING := $(foreach p,$(PROCESSES) proto,$(wildcard $(addsuffix /*.[ch],$p $p/* $p/*/*)))
LISTED   := $(wildcard proto/plugins.def proto/kube/documents/*.def proto/kube/release/*.def scheduler/cel/functions.def)
$(BUILD)/vocabulary/vocabulary.inc: $(SPEAKING) $(LISTED) proto/messages.def
	@mkdir -p $(@D)
	@{ cat $(SPEAKING) | sed "s/'\"'//g; s/'\\\\\"'//g" | grep -oE '"([^"\\]|\\.)*"' | sed 's/\\[a-z]/ /g'; \
	   sed -n 's/^ *WORD([^"]*"\([^"]*\)".*/\1/p' proto/messages.def; cat $(LISTED); } | \
	 grep -oE '[A-Za-z0-9][A-Za-z0-9._/-]*' | sed -E 's/[-._/]+$$//' | awk '{ print } gsub("/", "\n")' | \
	 LC_ALL=C sort -u | sed '/^[A-Za-z0-9]/!d; /_/d; /^0x/d; s/.*/"&",/' >$@.new
	@mv $@.new $@
$(BUILD)/ctl/redact/vocabulary.o: CPPFLAGS += -I$(BUILD)/vocabulary
$(BUILD)/ctl/redact/vocabulary.o: $(BUILD)/vocabulary/vocabulary.inc

# What is measured runs in one program, so that CPU time is counted and nothing else.
# Processes name things alike (a mirror, lines): of those that are measured in one program only what
# the bench calls is seen, the rest of each is hidden from the others.
MEASURED := $(addprefix $(BUILD)/tests/bench/,scheduler.o queue.o watcher.o)
$(BUILD)/tests/bench/scheduler.o: $(SCHEDULER)
$(BUILD)/tests/bench/scheduler.o: SEEN := coordinator* worker* own_worker* shard* catalog_* cache_* device_findings volume_findings_claims
$(BUILD)/tests/bench/queue.o: $(filter-out %/settings.o,$(call objects,queue/*.c queue/*/*.c))
$(BUILD)/tests/bench/queue.o: SEEN := queue*
$(BUILD)/tests/bench/watcher.o: $(filter-out %/settings.o,$(call objects,watcher/*.c))
$(BUILD)/tests/bench/watcher.o: SEEN := watcher*
$(MEASURED):
	@mkdir -p $(@D)
	@$(LD) -r -o $@ $^ && objcopy --wildcard $(SEEN:%=--keep-global-symbol='%') $@
$(BIN)/bench-core: LIBS += -lcrypto
$(BIN)/bench-core: $(BUILD)/tests/bench/core/main.o $(BENCHCORE) $(MEASURED) $(PROTO)
	$(LINK)

# The simulation: the cores of all processes in one program, with the small API server, in virtual
# time. It has wires of its own in the place of the bus's, and a client of its own; clocks and
# chance are given by it as well.
SIMULATION := $(call objects,tests/simulation/*.c)
SIM        := $(BUILD)/tests/simulation/sim
SIMULATED  := $(addprefix $(BUILD)/tests/simulation/parts/,scheduler.o queue.o watcher.o binder.o model.o)
SIMPARTS   := $(BUILD)/tests/simulation/parts
$(SIMPARTS)/scheduler.o: $(filter-out %/live_config.o %/settings.o %/program.o,$(SCHEDULER))
$(SIMPARTS)/scheduler.o: SEEN := coordinator* worker* own_worker*
$(SIMPARTS)/queue.o: $(filter-out %/settings.o,$(call objects,queue/*.c queue/*/*.c)) $(BUILD)/tests/simulation/queue_check.o
$(SIMPARTS)/queue.o: SEEN := queue*
$(SIMPARTS)/watcher.o: $(filter-out %/settings.o,$(call objects,watcher/*.c))
$(SIMPARTS)/watcher.o: SEEN := watcher* feed*
$(SIMPARTS)/binder.o: $(filter-out $(addprefix %/,settings.o shell.o deadman.o delegates.o),$(call objects,binder/*.c binder/*/*.c))
$(SIMPARTS)/binder.o: SEEN := binder*
$(SIMPARTS)/model.o: $(filter-out $(addprefix %/,program.o http.o http_listen.o),$(APISERVER)) $(BUILD)/tests/simulation/model.o
$(SIMPARTS)/model.o: SEEN := model*
$(SIMULATED):
	@mkdir -p $(@D)
	@$(LD) -r -o $@ $^ && objcopy --wildcard $(SEEN:%=--keep-global-symbol='%') $@
WRAPPED := moment_now moment_wall_us moment_boot_ns random_seed getpid \
           memory_take memory_take_array memory_resize memory_free memory_copy \
           metric_series metric_add metric_observe metric_set metric_add_to metric_set_to
SIMULATED_BY := $(filter-out %/model.o %/queue_check.o,$(SIMULATION)) $(SIMULATED)
$(SIM): LDFLAGS += $(WRAPPED:%=-Wl,--wrap=%)
$(SIM): $(BUILD)/tests/simulation/main.o $(SIMULATED_BY) $(PROTO)
	$(LINK)

# A scheduler of which one rule differs by a bit, which tests/e2e's case record has found.
PLANTED := $(BUILD)/tests/planted
$(PLANTED)/requested_score.o: scheduler/rules/requested_score.c
	@mkdir -p $(@D)
	@sed 's/\(kernel_least_of_two([^;]*\);/(\1, raw[0] \&= ~INT64_C(1));/' $< >$(@D)/requested_score.c
	@grep -q 'raw\[0\] &= ~' $(@D)/requested_score.c
	@$(CC) $(CPPFLAGS) $(CFLAGS) -c $(@D)/requested_score.c -o $@
$(PLANTED)/berth-scheduler: $(BUILD)/scheduler/main.o $(filter-out %/requested_score.o,$(SCHEDULER)) $(PLANTED)/requested_score.o $(PROTO)
	$(LINK)

# What tests/wire reads recorded bytes with, and makes bodies with.
WIRE := $(BUILD)/tests/wire/decode $(BUILD)/tests/wire/encode
$(WIRE): $(BUILD)/tests/wire/%: $(BUILD)/tests/wire/%.o $(PROTO)
	$(LINK)

# Many certificates as berth-serve makes them, for tests/certificates.
CERTIFICATES := $(BUILD)/tests/certificates/make
$(CERTIFICATES): LIBS += -lgnutls
$(CERTIFICATES): $(BUILD)/tests/certificates/make.o $(BUILD)/ctl/serve/certificate.o $(PROTO)
	$(LINK)

# A slow and lossy line to another network namespace, for tests/scale/links.
SCALE := $(BUILD)/tests/scale/link
$(SCALE): $(BUILD)/tests/scale/link.o $(BASE)
	$(LINK)

# What tests/fidelity/cel asks beside upstream's device selectors.
CELCASES  := $(BUILD)/tests/fidelity/cel/cases.o
SELECTORS := $(BUILD)/tests/fidelity/cel/answer
$(SELECTORS): $(BUILD)/tests/fidelity/cel/answer.o $(CELCASES) $(CEL) $(PROTO)
	$(LINK)

# What tests/fidelity/devices asks beside upstream's device allocator.
DEVCASES  := $(BUILD)/tests/fidelity/devices/cases.o $(CELCASES)
ALLOCATE  := $(BUILD)/tests/fidelity/devices/allocate
$(ALLOCATE): $(BUILD)/tests/fidelity/devices/allocate.o $(DEVCASES) $(DEVICES) $(CEL) $(PROTO)
	$(LINK)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# A unit test lies in tests/unit/AREA/ and links that area's folder and proto, but no main; the
# areas under proto (base, bus, kube, codec) need proto alone.
AREA_apiserver := $(APISERVER)
AREA_bench     := $(BENCHCORE) $(MEASURED)
AREA_binder    := $(call objects,binder/*.c binder/*/*.c)
AREA_cel       := $(CELCASES) $(CEL)
AREA_devices   := $(DEVCASES) $(DEVICES) $(CEL)
AREA_ctl       := $(CTL) $(BUILD)/ctl/serve/flags.o $(BUILD)/ctl/serve/label_rules.o $(SCHEDULER)
AREA_extender  := $(call objects,scheduler/extender/*.c)
AREA_queue     := $(call objects,queue/*.c queue/*/*.c)
# Without the file that stands on the actor loop, so that they load no library with threads.
AREA_scheduler := $(filter-out %/live_config.o %/program.o,$(SCHEDULER))
AREA_serve     := $(call objects,ctl/serve/*.c)
AREA_simulation := $(SIMULATED_BY)
AREA_watcher   := $(call objects,watcher/*.c)
AREA_together  := $(AREA_scheduler) $(AREA_watcher)
area = $(firstword $(subst /, ,$(1)))

define unit_test
$(BUILD)/tests/$(1): LIBS += -lcmocka -lcrypto $(if $(filter apiserver serve,$(call area,$(1))),-lmicrohttpd -lgnutls)
$(BUILD)/tests/$(1): LDFLAGS += $(if $(filter simulation,$(call area,$(1))),$(WRAPPED:%=-Wl,--wrap=%))
$(BUILD)/tests/$(1): $(BUILD)/tests/unit/$(1).o $(AREA_$(call area,$(1))) \
                     $(if $(filter apiserver,$(call area,$(1))),$(BASE),$(PROTO))
	$$(LINK)
endef
$(foreach t,$(TESTS:$(BUILD)/tests/%=%),$(eval $(call unit_test,$(t))))

# What a unit test starts as a process of its own (tests/unit/binder/live.h).
STARTED := $(BIN)/apiserver $(BIN)/berth-binder

started-built: $(STARTED)
units-built: $(TESTS) $(STARTED)
tests-built: $(TESTS) $(WIRE) $(CERTIFICATES) $(SELECTORS) $(ALLOCATE) $(SCALE)

# ---- run and test ----

deps:
	@tests/deps build test

run:
	@tests/deps build demo
	@tests/build all
	@tests/demo/run $(DEMO_SECONDS)

test:
	@tests/deps build test demo
	@tests/build all tests-built
	@tests/run $(BUILD)

# At each commit what is made at random follows from the commit; here it is new, and what it finds
# becomes a case that stays (tests/README.md).
nightly:
	@tests/deps build test check
	@tests/run $(BUILD) nightly

# Without installing anything and without the slow parts: what one runs while working.
test-unit: all tests-built
	@tests/run $(BUILD) unit

# Both API servers; the real one where Go is there to build it.
real = $(shell command -v go >/dev/null && echo real)

e2e: all
	@tests/e2e/run --api small
	@tests/e2e/reload
	@$(if $(real),tests/controlplane/controlplane build && tests/e2e/run --api real,echo 'skipped: the real API server (no go)')

wire: all $(WIRE)
	@$(if $(real),tests/controlplane/controlplane build && tests/wire/run,echo 'skipped: the real API server (no go)')

integration: all
	@$(if $(real),tests/controlplane/controlplane build && tests/integration/run,echo 'skipped: the real API server (no go)')

# Hours on two cores: all of it, of both releases, by kube-scheduler and by berth.
upstream: all
	@$(if $(real),for release in 1.36 1.37; do tests/controlplane/controlplane build --release $$release && \
	    tests/upstream/upstream all --release $$release || exit 1; done,echo 'skipped: upstream (no go)')

asan tsan:
	@tests/deps build test
	@$(MAKE) --no-print-directory $@-built
	@$(MAKE) --no-print-directory $@-run

asan-built:
	@$(MAKE) --no-print-directory -j2 MODE=asan units-built

asan-run:
	@tests/run build/asan unit

# Races take two threads. Our processes have one each, the libraries of the bus and of HTTP have more; so
# of the unit tests only those are looked at that load one of these, as the release build shows.
tsan-built:
	@$(MAKE) --no-print-directory -j2 MODE=release units-built
	@names=$$(tests/threaded build/release) && \
	    $(MAKE) --no-print-directory -j2 MODE=tsan started-built $$(printf 'build/tsan/tests/%s ' $$names)

tsan-run:
	@names=$$(tests/threaded build/release) && BERTH_UNITS="$$names" tests/run build/tsan unit

FUZZ_TIME ?= 60
fuzz:
	@tests/deps build test
	@tests/fuzz/run $(FUZZ_TIME)

# make bench CASES="SchedulingBasic TopologySpreading" PAIRS=5 API=real NODES=5000 BENCH="--mode arrival --rate 200" RELEASE=1.37
API ?= real
RELEASE ?= 1.36
NODES ?= 1000
PAIRS ?= 2
bench: all
	@$(if $(real),tests/controlplane/controlplane build --release $(RELEASE) $(if $(filter Gangs%,$(CASES)),--coscheduling) && \
	    tests/bench/run --api $(API) --release $(RELEASE) --nodes $(NODES) --pairs $(PAIRS) $(if $(CASES),,--minutes 18) $(BENCH) $(CASES),echo 'skipped: bench (no go)')

# CPU time of the cores, without an API server: make bench-core BENCH_CORE="--sections decisions"
bench-core: $(BIN)/bench-core
	@$< --commit "$$(git describe --always --dirty)" --out build/bench-core $(BENCH_CORE)

# berth on a cluster of full size, on the small API server (tests/scale):
# make scale NODES=5000 PODS=50000 SCALE="--kinds plain,service"
given = $(if $(filter command environment,$(origin $(1))),--$(2) $($(1)))
scale: all
	@tests/scale/run $(call given,NODES,nodes) $(call given,PODS,pods) $(SCALE)

# Stored scripts and seeds through the simulation, findings' scripts into build/scripts: make sim
# FIRST=1 SEEDS=1000 STEPS=2000 SIM_JOBS=2 SIM_FLAGS="--without lateness"
FIRST ?= $(shell tests/seed)
SEEDS ?= 100
STEPS ?= 2000
SIM_JOBS ?= $(shell nproc)
sim: $(SIM)
	@mkdir -p build/scripts
	@nice $< $(addprefix --script ,$(sort $(wildcard tests/simulation/scripts/*.scn))) \
	    --first $(FIRST) --seeds $(SEEDS) --steps $(STEPS) --jobs $(SIM_JOBS) \
	    --shrink 300 --scripts build/scripts --commit "$$(git describe --always --dirty)" $(SIM_FLAGS)

# Planted bugs that the simulation has to find.
mutants: $(SIM)
	@tests/simulation/mutants $(MUTANTS)

# ---- checks ----

SOURCES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

fmt:
	clang-format-14 -i $(SOURCES)

fmt-check:
	clang-format-14 --dry-run -Werror $(SOURCES)

# LINT="--part K/N": a part of the sources, and what was changed of late.
lint: CPPFLAGS += -I$(BUILD)/vocabulary
lint: $(BUILD)/vocabulary/vocabulary.inc
	@tests/lint $(LINT) -- -std=c11 $(CPPFLAGS)

tidy: all
	@tests/tidy/run $(BUILD)

RULES := compose/kubernetes/rbac/rules.yaml
COUNTERS := ctl/berth-counters.7
REFERENCE := docs/reference.md
# What plugins' authors write instead of numbers, by kind.
NAMES        := python go c schema
NAMES_python := proto/clients/python/berth/names.py
NAMES_go     := proto/clients/go/names.go
NAMES_c      := proto/clients/c/berth_messages.h
NAMES_schema := proto/clients/messages.schema.json
# What the Helm chart has of the manifests and the alerts: a chart may name no file outside itself.
CHARTED := kubernetes/rbac/rules.yaml=rules.yaml kubernetes/gangs.yaml=gangs.yaml \
           kubernetes/policy-configmap.yaml=policy-configmap.yaml monitoring/rules.yaml=alerts.yaml
charted  = compose/$(subst =, compose/chart/files/,$(1))
docs: $(BUILD)/document $(BIN)/berth
	$< > proto/MESSAGES.md
	$(foreach kind,$(NAMES),$< $(kind) > $(NAMES_$(kind)) &&) true
	$(BIN)/berth preflight --print-rules > $(RULES)
	$(foreach f,$(CHARTED),cp $(call charted,$(f)) && ):
	$(BIN)/berth status --print-counters > $(COUNTERS)
	tests/handbook/reference > $(REFERENCE)

docs-check: $(BUILD)/document $(BIN)/berth
	@$< | cmp - proto/MESSAGES.md || { echo 'proto/MESSAGES.md is stale: run make docs'; exit 1; }
	@$(foreach kind,$(NAMES),{ $< $(kind) | cmp - $(NAMES_$(kind)) || { echo '$(NAMES_$(kind)) is stale: run make docs'; exit 1; }; } &&) true
	@$(BIN)/berth status --print-counters | cmp - $(COUNTERS) || { echo '$(COUNTERS) is stale: run make docs'; exit 1; }
	@$(BIN)/berth preflight --print-rules | cmp - $(RULES) || { echo '$(RULES) is stale: run make docs'; exit 1; }
	@$(foreach f,$(CHARTED),cmp $(call charted,$(f)) && ): || { echo 'compose/chart/files is stale: run make docs'; exit 1; }
	@tests/handbook/reference | cmp - $(REFERENCE) || { echo '$(REFERENCE) is stale: run make docs'; exit 1; }

handbook:
	@tests/deps handbook
	@tests/handbook/html
	@echo build/docs/handbook.html

man-check:
	@mandoc -T lint -W warning $(shell git ls-files -co --exclude-standard '*.[1578]')

$(BUILD)/document: $(BUILD)/proto/document.o $(PROTO)
	$(LINK)

check: fmt-check lint tidy docs-check man-check test asan

compdb:
	bear -- $(MAKE) -B all tests-built

PREFIX ?= /usr/local
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
	    $(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(PREFIX)/share/man/man7 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 755 $(filter-out %/apiserver,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin
	ln -sfn berth $(DESTDIR)$(PREFIX)/bin/kubectl-berth
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	$(BIN)/berth completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/berth
	$(BIN)/berth completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_berth
	install -m 644 ctl/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 scheduler/scheduler.conf.5 $(DESTDIR)$(PREFIX)/share/man/man5/berth-scheduler.conf.5
	install -m 644 $(COUNTERS) $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 ctl/*.8 $(DESTDIR)$(PREFIX)/share/man/man8
	for p in $(PROCESSES); do \
	    install -m 644 $$p/$$p.8 $(DESTDIR)$(PREFIX)/share/man/man8/berth-$$p.8; done
	install -m 644 scheduler/extender/extender.8 $(DESTDIR)$(PREFIX)/share/man/man8/berth-extender.8

clean:
	rm -rf build/release build/asan build/tsan build/fuzz build/bin

.PHONY: ALWAYS all deps run test nightly test-unit tests-built started-built units-built e2e wire integration upstream asan asan-built asan-run \
        tsan tsan-built tsan-run fuzz sim mutants bench bench-core scale \
        fmt fmt-check lint tidy docs docs-check handbook man-check check compdb install clean
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
