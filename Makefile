# kistore: one Makefile for everything. `make help` lists the targets.
#
# Knobs: CC, CFLAGS, BUILD (where results go), DEVELOPER=1 (warnings are
# errors, and more of them), SANITIZE=address,undefined, PREFIX, DESTDIR,
# FUZZ_SECONDS.

BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
CC ?= cc
JOBS := $(shell nproc 2>/dev/null || echo 2)
VERSION := $(shell sed -n 's/^\#define KISTORE_VERSION "\(.*\)"/\1/p' src/kistore.h)
SONAME = libkistore.so.0

# ---- Flags ----------------------------------------------------------------

LIB_PKGS = libgit2 libzstd libcrypto sqlite3 zlib
CLI_PKGS = libcjson
PKGS = $(LIB_PKGS) $(CLI_PKGS)
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIB_LIBS := $(shell pkg-config --libs $(LIB_PKGS) 2>/dev/null) -lm -pthread
CLI_LIBS := $(shell pkg-config --libs $(CLI_PKGS) 2>/dev/null)

COMPILER := $(if $(findstring clang,$(shell $(CC) --version)),clang,gcc)
X86 := $(filter x86_64-% i686-%,$(shell $(CC) -dumpmachine))

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wcast-qual -Wwrite-strings -Wundef -Wvla -Walloca -Wformat=2 \
	-Wnull-dereference -Wdouble-promotion -Wswitch-enum
WARN_gcc = -Wlogical-op -Wduplicated-cond -Wduplicated-branches \
	-Wjump-misses-init -Wformat-signedness
WARN_clang = -Wcomma -Wassign-enum -Wconditional-uninitialized \
	-Wunreachable-code-aggressive
ifdef DEVELOPER
WARN += -Werror $(WARN_$(COMPILER))
endif

ifdef SANITIZE
CFLAGS ?= -O1 -g
HARDEN = -fno-omit-frame-pointer -fsanitize=$(SANITIZE) \
	-fno-sanitize-recover=all
SHARED_LDFLAGS =
else
CFLAGS ?= -O2 -g
FORTIFY_gcc = 3
FORTIFY_clang = 2
HARDEN = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY_$(COMPILER)) \
	-fstack-protector-strong $(if $(X86),-fcf-protection=full) \
	-fstack-clash-protection
SHARED_LDFLAGS = -Wl,-z,defs
endif

ALL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -fno-common -fPIC -pthread \
	$(WARN) $(HARDEN) -Isrc $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed $(LDFLAGS)

# ---- What there is --------------------------------------------------------

LIB_SRC = $(sort $(wildcard src/base/*.c src/format/*.c src/store/*.c))
CLI_SRC = $(sort $(wildcard src/cli/*.c))
HEADERS = $(sort $(wildcard src/*.h src/*/*.h))
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ = $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT_BIN = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
FAULT_BIN = $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/faults/test_*.c))
FUZZ_SRC = $(wildcard tests/fuzz/fuzz_*.c)
REPLAY_BIN = $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/replay/%,$(FUZZ_SRC))
FUZZ_BIN = $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/libfuzzer/%,$(FUZZ_SRC))
# The largest, which take longest, first: none is left to run alone at the end.
CLI_BATS := $(filter-out %/interop.bats,$(shell ls -S tests/cli/*.bats))
INTEROP_BATS = $(wildcard tests/cli/interop.bats tests/interop/*.bats)
FAULT_BATS = $(wildcard tests/faults/*.bats)
C_SRC = $(wildcard src/*.h src/*/*.[ch] tests/*/*.[ch])
SHELL_SRC = .ci/run $(wildcard tests/*/*.sh tests/*/*.bash tests/*/*.bats \
	bench/*.sh)

# ---- Program and library --------------------------------------------------

all: $(BUILD)/kistore

lib: $(BUILD)/libkistore.a $(BUILD)/$(SONAME) $(BUILD)/libkistore.pc

# A stamp that changes when its text does: objects depend on the flags, the
# archive on the list of its members.
define write_stamp
	@mkdir -p $(@D)
	@printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
endef

$(BUILD)/flags: FORCE
	$(call write_stamp,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))

$(BUILD)/members: FORCE
	$(call write_stamp,$(LIB_OBJ) $(CLI_OBJ))

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libkistore.a: $(LIB_OBJ) $(BUILD)/members
	@rm -f $@
	$(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/$(SONAME): $(LIB_OBJ) $(BUILD)/members src/kistore.map
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(SHARED_LDFLAGS) -shared \
		-Wl,-soname,$(SONAME) -Wl,--version-script,src/kistore.map \
		-o $@ $(LIB_OBJ) $(LIB_LIBS)

$(BUILD)/kistore: $(CLI_OBJ) $(BUILD)/libkistore.a $(BUILD)/members
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -pie -o $@ $(CLI_OBJ) \
		$(BUILD)/libkistore.a $(CLI_LIBS) $(LIB_LIBS)

$(BUILD)/libkistore.pc: src/kistore.h Makefile
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include/kistore' \
		'libdir=$${prefix}/lib' '' 'Name: kistore' \
		'Description: archive of records named by their SHA-256' \
		'Version: $(VERSION)' 'Requires.private: $(LIB_PKGS)' \
		'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lkistore' \
		'Libs.private: -lm -pthread' > $@

# ---- Test programs --------------------------------------------------------

link_test = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -pie -MMD -MP -MF $@.d -MT $@

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libkistore.a
	@mkdir -p $(@D)
	$(link_test) -o $@ $< $(BUILD)/libkistore.a $(LIB_LIBS) -lcmocka

# The unit tests of the command line link its modules, all but main.
CLI_PARTS = $(filter-out %/main.o,$(CLI_OBJ))
$(BUILD)/unit/test_cli_%: tests/unit/test_cli_%.c $(BUILD)/libkistore.a \
		$(CLI_OBJ)
	@mkdir -p $(@D)
	$(link_test) -o $@ $< $(CLI_PARTS) $(BUILD)/libkistore.a \
		$(CLI_LIBS) $(LIB_LIBS) -lcmocka

# Fault injection: a test defines __wrap_write() and its like, and names what it
# wraps in a comment line " * wrap: write, fsync".
$(BUILD)/faults/%: tests/faults/%.c $(BUILD)/libkistore.a
	@mkdir -p $(@D)
	$(link_test) $(shell sed -n 's/^ \* wrap: /,/p' $< | \
		sed 's/[ ,][ ,]*/ -Wl,--wrap=/g') \
		-o $@ $< $(BUILD)/libkistore.a $(LIB_LIBS) -lcmocka

# The same for calls that libgit2 and SQLite make: preloaded into the program.
$(BUILD)/faults/preload.so: tests/faults/preload.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) -O2 -fPIC -shared -o $@ $<

$(BUILD)/replay/%: tests/fuzz/fuzz_%.c tests/lib/replay.c $(BUILD)/libkistore.a
	@mkdir -p $(@D)
	$(link_test) -o $@ $< tests/lib/replay.c $(BUILD)/libkistore.a \
		$(LIB_LIBS)

$(BUILD)/libfuzzer/%: tests/fuzz/fuzz_%.c $(BUILD)/libkistore.a
	@mkdir -p $(@D)
	$(link_test) -fsanitize=fuzzer -o $@ $< $(BUILD)/libkistore.a \
		$(LIB_LIBS)

$(BUILD)/es6_stream: tests/lib/es6_stream.c $(BUILD)/libkistore.a
	$(link_test) -o $@ $< $(BUILD)/libkistore.a $(LIB_LIBS)

# ---- Tests ----------------------------------------------------------------
#
# tests/lib/check.sh runs what it is given side by side, counts, and ends with
# "N passed, N failed" (", N skipped"); the exit status says whether any
# failed.

TEST_BIN = $(UNIT_BIN) $(REPLAY_BIN)
CHECK = BUILD=$(BUILD) SANITIZE=$(SANITIZE) JOBS=$(JOBS) tests/lib/check.sh
# Use all cores for building, unless the caller has said how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))
SUB = +@$(MAKE) --no-print-directory

check: need-check
	$(SUB) -s $(PARALLEL) $(BUILD)/kistore $(TEST_BIN)
	@$(CHECK) $(UNIT_BIN) $(REPLAY_BIN) $(CLI_BATS) $(INTEROP_BATS)

unit: $(UNIT_BIN)
	@$(CHECK) $(UNIT_BIN)

cli: $(BUILD)/kistore
	@$(CHECK) $(CLI_BATS)

replay: $(REPLAY_BIN)
	@$(CHECK) $(REPLAY_BIN)

interop: $(BUILD)/kistore
	@$(CHECK) $(INTEROP_BATS)

check-asan: export LSAN_OPTIONS = \
	suppressions=$(CURDIR)/tests/lib/lsan.supp:print_suppressions=0
check-asan: export TEST_TIMEOUT = 1500
check-asan: need-check
	$(SUB) check BUILD=$(BUILD)/asan SANITIZE=address,undefined

check-valgrind: need-check
	$(SUB) -s $(PARALLEL) $(BUILD)/kistore $(TEST_BIN)
	@VALGRIND=1 $(CHECK) $(TEST_BIN) $(CLI_BATS)

check-faults: need-check
	$(SUB) -s $(PARALLEL) $(BUILD)/kistore $(FAULT_BIN) \
		$(BUILD)/faults/preload.so
	@TEST_TIMEOUT=3000 $(CHECK) $(FAULT_BIN) $(FAULT_BATS)

# Hours, on a slow machine: each script says what it measured.
check-stress: $(BUILD)/kistore
	@for script in tests/stress/*.sh; do \
		KISTORE=$(BUILD)/kistore $$script || exit 1; \
	done
	@TAGS=long TEST_TIMEOUT=7200 $(CHECK) $(CLI_BATS)

es6: $(BUILD)/es6_stream
	@tests/lib/es6.sh $(BUILD)/es6_stream 10000000

fuzz:
	$(SUB) -s $(PARALLEL) fuzz-run CC=clang BUILD=$(BUILD)/fuzz \
		SANITIZE=fuzzer-no-link,address,undefined

fuzz-run: $(FUZZ_BIN)
	@BUILD=$(BUILD) tests/lib/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_BIN)

bench: need-bench $(BUILD)/kistore
	@KISTORE=$(BUILD)/kistore bench/run.sh

bench-million: need-bench $(BUILD)/kistore
	@KISTORE=$(BUILD)/kistore bench/million.sh

# ---- Reading the code by machine ------------------------------------------

lint: need-lint
	$(SUB) -s $(PARALLEL) lint-run

lint-run: lint-gcc lint-clang lint-headers lint-layers lint-symbols \
	lint-shell lint-man lint-layout lint-cppcheck lint-tidy
	@echo 'lint: nothing to say'

lint-gcc lint-clang: lint-%:
	$(SUB) -s CC=$* BUILD=$(BUILD)/lint-$* DEVELOPER=1 lint-build

lint-build: all lib $(UNIT_BIN) $(FAULT_BIN) $(REPLAY_BIN)

lint-headers:
	@for h in $(HEADERS:src/%=%); do \
		printf '#include "%s"\nextern int unused;\n' "$$h" | $(CC) $(ALL_CFLAGS) -Werror \
			-fsyntax-only -x c - || exit 1; \
	done

lint-layers:
	@awk -f tests/lib/layers.awk $(sort $(wildcard src/*.h src/*/*.[ch]))

lint-symbols: lint-gcc
	@nm -D --defined-only $(BUILD)/lint-gcc/$(SONAME) | \
		awk '$$3 !~ /^ks_/ { print "exported: " $$3; bad = 1 } \
		END { exit bad }'

lint-shell:
	@shellcheck $(SHELL_SRC)

lint-man:
	@mandoc -Tlint -Wwarning src/kistore.1

lint-layout:
	@LC_ALL=C awk -f tests/lib/layout.awk $(C_SRC)

lint-cppcheck:
	@cppcheck --quiet --std=c11 -j$(JOBS) --error-exitcode=1 \
		--enable=warning,style,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppressions-list=.cppcheck \
		-Isrc $(LIB_SRC) $(CLI_SRC)

lint-tidy: $(LIB_SRC:%.c=$(BUILD)/tidy/%) $(CLI_SRC:%.c=$(BUILD)/tidy/%)

$(BUILD)/tidy/%: %.c .clang-tidy $(HEADERS)
	@mkdir -p $(@D)
	@clang-tidy --quiet --warnings-as-errors='*' $< -- -std=c11 \
		-D_POSIX_C_SOURCE=200809L -Isrc $(PKG_CFLAGS) 2>$@.err || \
		{ cat $@.err; exit 1; }
	@touch $@

# The layout is by hand; clang-format comes near, and is asked file by file:
# make format FILES='src/cli/main.c'
format:
	clang-format -i $(FILES)

# ---- Installing -----------------------------------------------------------

PUBLIC_BASE = src/base/buf.h src/base/error.h src/base/span.h
PUBLIC_FORMAT = src/format/id.h

install: all lib
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/kistore/base \
		$(DESTDIR)$(PREFIX)/include/kistore/format \
		$(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BUILD)/kistore $(DESTDIR)$(PREFIX)/bin
	install -m 644 src/kistore.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 src/kistore.h $(DESTDIR)$(PREFIX)/include/kistore
	install -m 644 $(PUBLIC_BASE) $(DESTDIR)$(PREFIX)/include/kistore/base
	install -m 644 $(PUBLIC_FORMAT) \
		$(DESTDIR)$(PREFIX)/include/kistore/format
	install -m 644 $(BUILD)/libkistore.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(BUILD)/$(SONAME) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libkistore.so
	install -m 644 $(BUILD)/libkistore.pc \
		$(DESTDIR)$(PREFIX)/lib/pkgconfig/kistore.pc

dist:
	@mkdir -p $(BUILD)
	git archive --prefix=kistore-$(VERSION)/ HEAD | \
		gzip -9n > $(BUILD)/kistore-$(VERSION).tar.gz

clean:
	rm -rf $(BUILD)

# ---- What has to be installed ---------------------------------------------
#
# The lists are Debian's names. need-… looks for the commands and libraries
# themselves, and installs packages only where it is run as root and one is
# missing.

DEPS_BUILD = gcc libc6-dev make git pkg-config libgit2-dev libcjson-dev \
	libzstd-dev libssl-dev libsqlite3-dev zlib1g-dev
DEPS_CHECK = libcmocka-dev bats zstd jq openssl openssh-client sqlite3 \
	python3 python3-cryptography procps curl nginx-light
DEPS_LINT = clang clang-format clang-tidy libclang-rt-14-dev cppcheck \
	shellcheck mandoc valgrind strace

DEPS_BENCH = hyperfine strace time jq zstd python3

APT = apt-get install -y -qq --no-install-recommends
define apt_install
	export DEBIAN_FRONTEND=noninteractive; $(APT) $(1) >/dev/null || \
		{ apt-get update -qq && $(APT) $(1) >/dev/null; }
endef

deps:
	$(call apt_install,$(DEPS_BUILD))

deps-check:
	$(call apt_install,$(DEPS_BUILD) $(DEPS_CHECK))

deps-dev:
	$(call apt_install,$(DEPS_BUILD) $(DEPS_CHECK) $(DEPS_LINT))

deps-bench:
	$(call apt_install,$(DEPS_BUILD) $(DEPS_BENCH))

# $(call need,commands,packages for pkg-config,target that installs them)
define need
	@missing=; for c in $(1); do \
		command -v $$c >/dev/null || missing="$$missing $$c"; done; \
	for p in $(2); do \
		pkg-config --exists $$p 2>/dev/null || missing="$$missing $$p"; \
	done; \
	[ -z "$$missing" ] || if [ "$$(id -u)" = 0 ] && \
		command -v apt-get >/dev/null; then \
		echo "missing:$$missing; installing packages"; \
		$(MAKE) -s --no-print-directory $(3); \
	else \
		echo "missing:$$missing; as root, run: make $(3)" >&2; exit 1; \
	fi
endef

NEED_BUILD = $(CC) git pkg-config
NEED_CHECK = $(NEED_BUILD) bats zstd jq openssl ssh-keygen sqlite3 python3 ps

need-build:
	$(call need,$(NEED_BUILD),$(PKGS),deps)

need-check:
	$(call need,$(NEED_CHECK),$(PKGS) cmocka,deps-check)

need-lint:
	$(call need,$(NEED_CHECK) clang clang-format clang-tidy cppcheck \
		shellcheck mandoc,$(PKGS) cmocka,deps-dev)

need-bench:
	$(call need,$(NEED_BUILD) hyperfine strace /usr/bin/time jq zstd \
		python3,$(PKGS),deps-bench)

# ---- Showing it -----------------------------------------------------------

demo: need-build
	$(SUB) -s $(PARALLEL) $(BUILD)/kistore
	@KISTORE=$(BUILD)/kistore tests/lib/demo.sh

help:
	@printf '%s\n' \
	'all             the program, $(BUILD)/kistore' \
	'lib             libkistore.a and $(SONAME)' \
	'demo            a tour: make a store, put, resolve, verify' \
	'check           all tests; the last line counts them' \
	'unit cli replay interop         one part of check' \
	'check-asan      the same with address and undefined sanitizers' \
	'check-valgrind  unit and some command-line tests under valgrind' \
	'check-faults    system calls and allocations made to fail' \
	'check-stress    death, company and quantity, at length' \
	'es6             the ES6 number file, 10 million lines' \
	'fuzz            every parser, FUZZ_SECONDS=$(FUZZ_SECONDS) each' \
	'bench           measurements, on the catalogue' \
	'bench-million   the same as stores grow to a million records' \
	'lint            two compilers, clang-tidy, cppcheck, shellcheck, layers' \
	'format          clang-format on FILES' \
	'install         under DESTDIR and PREFIX=$(PREFIX)' \
	'dist            a source archive of HEAD' \
	'deps deps-check deps-dev deps-bench     install packages' \
	'clean           remove $(BUILD)'

FORCE:

.PHONY: FORCE all lib check unit cli replay interop check-asan check-valgrind \
	check-faults check-stress es6 fuzz fuzz-run bench bench-million lint lint-run lint-build \
	lint-gcc lint-clang lint-headers lint-layers lint-symbols lint-shell \
	lint-man lint-layout lint-cppcheck lint-tidy format install dist \
	clean deps deps-check deps-dev deps-bench need-build need-check \
	need-lint need-bench demo help

.DELETE_ON_ERROR:

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(UNIT_BIN:%=%.d) \
	$(FAULT_BIN:%=%.d)
