# kistore: one Makefile for everything. `make help` lists the targets.

CC ?= cc
BUILD ?= build
LIBS = libgit2 libcjson libzstd libcrypto sqlite3 zlib

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wcast-qual -Wwrite-strings -Wundef -Wvla -Walloca -Wformat=2 \
	-Wnull-dereference -Wdouble-promotion -Wswitch-enum
HARDEN = -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
	-fstack-clash-protection -fcf-protection=full -fPIC
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -fno-common $(WARN) \
	$(HARDEN) -Isrc $(shell pkg-config --cflags $(LIBS)) $(CFLAGS) -pthread
LDLIBS = $(shell pkg-config --libs $(LIBS)) -lm -pthread

LIB_SRC = $(wildcard src/base/*.c src/format/*.c src/store/*.c)
CLI_SRC = $(wildcard src/cli/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ = $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC = $(wildcard tests/unit/test_*.c)
UNIT_BIN = $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

all: $(BUILD)/kistore

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libkistore.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/kistore: $(CLI_OBJ) $(BUILD)/libkistore.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libkistore.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/libkistore.a \
		$(LDLIBS) -lcmocka

unit: $(UNIT_BIN)
	@for t in $(UNIT_BIN); do $$t || exit 1; done

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(UNIT_BIN:%=%.d)
