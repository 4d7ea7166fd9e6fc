# How one flavour is compiled. Run from the top of the tree by Makefile, which has configured $(B) already:
#   make -f build-aux/build.mk B=build FLAVOUR=release all|tests
include $(B)/config.mk

# --- flags -----------------------------------------------------------------------------------------------
HARDEN = -D_FORTIFY_SOURCE=2
# CI reads names and lines of a trace, and has a thousand programs to keep: no types and no variables there.
DEBUG = $(if $(filter 1 yes true,$(CI)),-g1,-g)
# These make calls and use files of their own, also while the program serves.
OWN_CALLS = -DTACIT_UNCONFINED
FLAGS_release = -O2 $(DEBUG) $(HARDEN)
FLAGS_clang = -O2 $(DEBUG) $(HARDEN)
FLAGS_dev = $(OWN_CALLS) -O1 $(DEBUG) -DTACIT_MAGIC -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
# TSan does not know fences. The one there is orders what another process writes, which TSan does not see either.
FLAGS_tsan = $(OWN_CALLS) -O1 $(DEBUG) -DTACIT_MAGIC -fno-omit-frame-pointer -fsanitize=thread -Wno-tsan
# The own code of unit tests, but of these, takes none of the time that they run, and half as long to compile like this.
BUSY_UNITS = base/test_ranges cache/test_cache h2/test_h2_pair
TEST_FLAGS_release = -O0 -U_FORTIFY_SOURCE
TEST_FLAGS_dev = -O0
TEST_FLAGS_tsan = -O0
FLAGS_cov = $(OWN_CALLS) -O0 $(DEBUG) -DTACIT_MAGIC --coverage
# with DWARF 4, since addr2line takes the wrong file for the first function that DWARF 5 has of a header
FLAGS_path = $(OWN_CALLS) -O2 -gdwarf-4 -finstrument-functions
FLAGS_fuzz = $(OWN_CALLS) -O1 $(DEBUG) -DTACIT_MAGIC -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined

WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum
WERROR ?= $(CI)
# what is never anything but a mistake stops every build
WARN += -Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types
WARN += $(if $(filter 1 yes true,$(WERROR)),-Werror)

ALL_CPPFLAGS = -D_GNU_SOURCE= -DTACIT_VERSION='"$(VERSION)"' $(if $(filter 1,$(HAVE_JEMALLOC)),-DTACIT_JEMALLOC) \
	$(if $(filter 1,$(HAVE_SECCOMP)),-DTACIT_SECCOMP) $(if $(filter 1,$(HAVE_SDT)),-DTACIT_SDT) -Iinclude -I$(B)/gen $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 -fPIE -fstack-protector-strong -fno-strict-aliasing $(FLAGS_$(FLAVOUR)) $(WARN) $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(filter -fsanitize% --coverage,$(FLAGS_$(FLAVOUR))) $(LDFLAGS)
SYSLIBS = $(LIBS) -pthread

# --- what there is ---------------------------------------------------------------------------------------
O := $(B)/obj
MAIN := src/app/main/main.c
LIB_SRC := $(filter-out $(MAIN),$(sort $(wildcard src/*/*.c src/*/*/*.c)))
FAKE_SRC := $(sort $(wildcard tests/fake/*.c))
SIM_SRC := $(filter-out tests/sim/test_%,$(sort $(wildcard tests/sim/*.c)))
UNIT_SRC := $(sort $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c))
SIM_TEST_SRC := $(sort $(wildcard tests/sim/test_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

obj = $(patsubst %.c,$(O)/%.o,$(1))
LIB := $(B)/libtacit.a
FAKE_LIB := $(B)/libfake.a
BIN := $(if $(MAIN),$(B)/tacit)
TESTS := $(patsubst %.c,$(B)/%,$(UNIT_SRC) $(SIM_TEST_SRC))
REPLAY := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))
TOOLS := $(patsubst tests/system/tools/%.c,$(B)/tools/%,$(sort $(wildcard tests/system/tools/*.c))) $(B)/moved_clock.so
# What a process has counted is written when it ends without exit(3), too.
COV_EXIT := $(if $(filter cov,$(FLAVOUR)),$(O)/tests/cov/exit.o)
BENCHES := $(patsubst tests/bench/%.c,$(B)/bench/%,$(sort $(wildcard tests/bench/*.c)))

# The headers that most files of these folders include are compiled once. The release build does not do so: it finds the file
# that forgot to include what it uses. Unit tests have flags of their own, and so a copy.
COMMON_IN := $(if $(filter dev tsan clang,$(FLAVOUR)),app proxy rule tls)
COMMON := $(O)/common/src.h
COMMON_UNIT := $(O)/common/unit.h
COMMON_SRC := $(filter $(COMMON_IN:%=src/%/%) $(if $(COMMON_IN),tests/sim/%),$(LIB_SRC) $(SIM_SRC) $(SIM_TEST_SRC))
COMMON_UNIT_SRC := $(filter-out %/test_added_state.c $(BUSY_UNITS:%=tests/unit/%.c),$(filter $(COMMON_IN:%=tests/unit/%/%),$(UNIT_SRC)))
OTHER_SRC := $(filter-out $(COMMON_SRC) $(COMMON_UNIT_SRC) %/test_added_state.c,\
	$(LIB_SRC) $(SIM_SRC) $(SIM_TEST_SRC) $(UNIT_SRC))

.PHONY: all demo units tests replay benches path syntax
all: $(LIB) $(BIN)
	@:
demo: $(B)/origin
	@:
units: all $(patsubst %.c,$(B)/%,$(UNIT_SRC))
	@:
tests: all demo $(TESTS) $(TOOLS)
	@:
replay: all $(REPLAY)
	@:
benches: $(BENCHES)
	@:
path: $(B)/path.so
	@:
# Warnings only: no code is made. One file is compiled in its own way.
only_warn = xargs -P $(or $(shell getconf _NPROCESSORS_ONLN 2>/dev/null),2) -n 40 $(CC) $(ALL_CPPFLAGS) -Itests -Isrc $(ALL_CFLAGS) -fsyntax-only
syntax: $(B)/gen/app/stats/page_files.h $(COMMON).gch
	$(call say,SYNTAX)printf '%s\n' $(COMMON_SRC) $(COMMON_UNIT_SRC) | $(only_warn) -include $(COMMON)
	@printf '%s\n' $(MAIN) $(OTHER_SRC) $(FAKE_SRC) $(FUZZ_SRC) \
		$(sort $(wildcard tests/system/*.c tests/system/tools/*.c tests/bench/*.c demo/*.c)) | $(only_warn)

# V=1 shows the commands, otherwise one short line each.
say = $(if $(V),,@echo "  $(1) $@" &&)

$(LIB): $(call obj,$(LIB_SRC))
	@mkdir -p $(@D) && rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(FAKE_LIB): $(call obj,$(FAKE_SRC) $(SIM_SRC))
	@mkdir -p $(@D) && rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(B)/tacit: $(call obj,$(MAIN)) $(COV_EXIT) $(LIB)
	$(call say,LD)$(CC) $(ALL_CFLAGS) -o $@ $(call obj,$(MAIN)) $(COV_EXIT) $(LIB) $(ALL_LDFLAGS) $(SYSLIBS)

$(TESTS): $(B)/%: $(O)/%.o $(COV_EXIT) $(FAKE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_CFLAGS) -o $@ $< $(COV_EXIT) -Wl,--start-group $(FAKE_LIB) $(LIB) -Wl,--end-group \
		$(ALL_LDFLAGS) $(TEST_LDFLAGS) $(CMOCKA_LIBS) $(SYSLIBS)

$(call obj,$(filter-out $(BUSY_UNITS:%=tests/unit/%.c),$(UNIT_SRC))) $(COMMON_UNIT).gch: private ALL_CFLAGS += $(TEST_FLAGS_$(FLAVOUR))
$(call obj,$(COMMON_SRC)): private ALL_CPPFLAGS += -include $(COMMON) -Winvalid-pch
$(call obj,$(COMMON_UNIT_SRC)): private ALL_CPPFLAGS += -include $(COMMON_UNIT) -Winvalid-pch
$(call obj,$(COMMON_SRC)): $(COMMON).gch
$(call obj,$(COMMON_UNIT_SRC)): $(COMMON_UNIT).gch
$(COMMON).gch $(COMMON_UNIT).gch: %.gch: build-aux/common.h $(B)/config.mk build-aux/build.mk
	@mkdir -p $(@D) && cp $< $*
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -x c-header -o $@ $*

# Simulated worlds look at sessions where they are logged, and make allocations fail. Threads of a whole process take turns.
# What a library of the compiler calls behind them (libgcov) is linked after ours: -u keeps the functions for it.
MEM_WRAP := -Wl,-u,__wrap_malloc $(foreach f,malloc calloc realloc aligned_alloc,-Wl,--wrap=$(f))
SIM_WRAP := $(foreach f,stream_log http_txn_put,-Wl,--wrap=$(f)) $(MEM_WRAP)
WORLD_UNITS := $(patsubst %.c,$(B)/%,$(wildcard $(foreach d,session relay http1 http2 model backend sample,tests/unit/proxy/$(d)/test_*.c)))
PROCESS_TESTS := $(filter $(B)/tests/sim/test_process_% $(B)/tests/sim/test_torture_process,$(TESTS))
$(PROCESS_TESTS): ALL_LDFLAGS += $(foreach f,thread_start thread_join modules_register,-Wl,--wrap=$(f)) $(MEM_WRAP)
$(filter-out $(PROCESS_TESTS),$(filter $(B)/tests/sim/%,$(TESTS))) $(WORLD_UNITS) $(B)/tests/fuzz/fuzz_fsm $(B)/tests/unit/tls/test_transport_faults: ALL_LDFLAGS += $(SIM_WRAP)

# Their allocations fail.
$(B)/tests/unit/h2/test_h2_faults $(B)/tests/unit/proxy/check/test_mailer $(B)/tests/unit/app/admin/test_admin_walk $(B)/tests/unit/app/config/test_config_faults: ALL_LDFLAGS += $(MEM_WRAP)

# So do those of compressors, which it weighs, and calls of one that takes its memory itself.
CODER_TESTS := $(O)/tests/unit/http/test_coder $(O)/tests/unit/http/test_bodies
$(B)/tests/unit/http/test_coder: ALL_LDFLAGS += $(MEM_WRAP) \
	$(foreach f,mem_alloc mem_zalloc mem_free ZSTD_compressStream2 ZSTD_freeCCtx,-Wl,--wrap=$(f))
$(B)/tests/unit/http/test_coder $(B)/tests/unit/http/test_bodies: SYSLIBS += $(if $(filter 1,$(HAVE_BROTLI)),-lbrotlidec)

# Its table of states has a row more.
ADDED_STATE := tests/unit/proxy/session/added_state
$(O)/tests/unit/proxy/session/test_added_state.o: ALL_CPPFLAGS := -I$(ADDED_STATE) $(ALL_CPPFLAGS)

# Words of tests are no names of packages.
$(B)/tests/fuzz/fuzz_acl $(B)/tests/fuzz/fuzz_rules $(B)/tests/unit/proxy/config/test_server_name_cfg: ALL_LDFLAGS += -Wl,--wrap=names_host
$(B)/tests/unit/base/test_ranges: ALL_LDFLAGS += -Wl,--wrap=realloc
# What is freed is examined.
$(B)/tests/unit/base/test_sbuf: ALL_LDFLAGS += -Wl,--wrap=mem_free
# A process counts while its entries are copied.
$(B)/tests/unit/table/test_table_file: ALL_LDFLAGS += -Wl,--wrap=qsort
# What searches or changes all servers, and reads their addresses, is counted.
$(B)/tests/unit/app/process/test_state_file: ALL_LDFLAGS += -Wl,--wrap=proxy_find_server
$(B)/tests/unit/proxy/resolve/test_resolve: ALL_LDFLAGS += -Wl,--wrap=addr_cell_get,--wrap=balance_refresh
# Reloads are the target's.
$(B)/tests/fuzz/fuzz_master_cli: ALL_LDFLAGS += -Wl,--wrap=master_reload
# Its processes start with a table of keywords that is sorted once.
$(B)/tests/fuzz/fuzz_admin: ALL_LDFLAGS += -Wl,--wrap=modules_register
# It is made of the rig of unit tests.
$(B)/tests/fuzz/fuzz_tls: ALL_LDFLAGS += $(CMOCKA_LIBS)

# Ways through the fake kernel are none of the program: they guide no fuzzer, and counting them takes half of its time.
ifeq ($(FLAVOUR),fuzz)
$(call obj,$(FAKE_SRC)): ALL_CFLAGS += -fno-sanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table
endif

# With clang each fuzz target is a libFuzzer program; in every other flavour it gets a main that replays files,
# so that the corpora run wherever the project builds.
ifeq ($(FLAVOUR),fuzz)
FUZZ_MAIN :=
FUZZ_LDFLAGS := -fsanitize=fuzzer
else
FUZZ_MAIN := $(O)/tests/fuzz/replay.o
FUZZ_LDFLAGS := $(TEST_LDFLAGS)
endif
$(REPLAY): $(B)/tests/fuzz/%: $(O)/tests/fuzz/%.o $(FUZZ_MAIN) $(FAKE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_CFLAGS) -o $@ $< $(FUZZ_MAIN) -Wl,--start-group $(FAKE_LIB) $(LIB) -Wl,--end-group \
		$(FUZZ_LDFLAGS) $(ALL_LDFLAGS) $(SYSLIBS)

$(BENCHES): $(B)/bench/%: $(O)/tests/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_CFLAGS) -o $@ $< $(LIB) $(ALL_LDFLAGS) $(SYSLIBS)

# The server of the demonstration, and what tests/system runs beside the program: not a part of it.
$(B)/origin: $(O)/demo/origin.o
	$(call say,LD)$(CC) $(ALL_CFLAGS) -o $@ $< $(ALL_LDFLAGS)

$(B)/tools/peers: $(O)/tests/system/tools/peers/wire.o
$(filter $(B)/tools/%,$(TOOLS)): $(B)/tools/%: $(O)/tests/system/tools/%.o
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_CFLAGS) -o $@ $^ $(ALL_LDFLAGS) -lm $(TOOL_LIBS)
$(B)/tools/peers: TOOL_LIBS = -lssl -lcrypto
# The coder of tacit itself.
$(B)/tools/hpack: $(LIB)
$(B)/tools/hpack: TOOL_LIBS = $(SYSLIBS)

# Preloaded into a program under test: tests let time pass for it.
$(B)/moved_clock.so: tests/system/moved_clock.c $(B)/config.mk
	$(call say,LD)$(CC) -std=gnu11 -O2 $(WARN) -shared -fPIC -o $@ $<

# Preloaded into the flavour path: hears of each function that is entered.
$(B)/path.so: tests/system/path/hook.c $(B)/config.mk
	$(call say,LD)$(CC) -std=gnu11 -O2 $(WARN) -shared -fPIC -o $@ $<

$(O)/tests/%.o: tests/%.c $(B)/config.mk build-aux/build.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) -Itests -Isrc $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/demo/%.o: demo/%.c $(B)/config.mk build-aux/build.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# What browsers get of the statistics page, as C strings.
PAGE_FILES := src/app/stats/page.css src/app/stats/page.js
$(B)/gen/app/stats/page_files.h: build-aux/embed $(PAGE_FILES)
	@mkdir -p $(@D)
	$(call say,GEN)sh build-aux/embed $(PAGE_FILES) >$@.new && mv $@.new $@
$(O)/src/http/deflate.o: ALL_CPPFLAGS += $(if $(filter 1,$(HAVE_ISAL)),-DTACIT_ISAL)
$(O)/src/http/brotli.o $(CODER_TESTS:=.o): ALL_CPPFLAGS += $(if $(filter 1,$(HAVE_BROTLI)),-DTACIT_BROTLI)
$(O)/src/http/zstd.o $(CODER_TESTS:=.o): ALL_CPPFLAGS += $(if $(filter 1,$(HAVE_ZSTD)),-DTACIT_ZSTD)
$(O)/src/app/stats/stats.o: $(B)/gen/app/stats/page_files.h

$(O)/src/%.o: src/%.c $(B)/config.mk build-aux/build.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)

# --- manual pages and installing -------------------------------------------------------------------------
prefix ?= /usr/local
exec_prefix = $(prefix)
sbindir = $(exec_prefix)/sbin
datadir = $(prefix)/share
mandir = $(datadir)/man
unitdir = $(prefix)/lib/systemd/system
zshdir = $(datadir)/zsh/site-functions
vimdir = $(datadir)/vim/vimfiles
sysconfdir = /etc
INSTALL = install

.PHONY: man install uninstall
man: $(B)/man/tacit.8 $(B)/man/tacit.cfg.5 $(B)/man/tacit-guide.7 $(B)/man/tacit-scale.7

$(B)/man/tacit.8: man/tacit.8 $(B)/tacit
	@mkdir -p $(@D)
	$(B)/tacit -dK man8 >$@.commands
	sed -e 's/@VERSION@/$(VERSION)/' -e '/^@COMMANDS@$$/{r $@.commands' -e 'd;}' $< >$@.new
	mv $@.new $@

# The recipes are files that the tests play.
$(B)/man/tacit-guide.7: man/tacit-guide.7.in build-aux/guide $(wildcard conf/recipes/* conf/pair/* conf/k8s/*) $(B)/config.mk
	@mkdir -p $(@D)
	sh build-aux/guide $< '$(VERSION)' >$@.new
	mv $@.new $@

$(B)/man/tacit-scale.7: man/tacit-scale.7.in $(B)/config.mk
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(VERSION)/' $< >$@.new
	mv $@.new $@

# The keyword part comes out of the program's own tables, so that it cannot be behind them.
$(B)/man/tacit.cfg.5: man/tacit.cfg.5.in $(B)/tacit
	@mkdir -p $(@D)
	sed 's/@VERSION@/$(VERSION)/' $< >$@.new
	$(B)/tacit -dK man >>$@.new
	mv $@.new $@

install: all man
	$(INSTALL) -D -m 755 $(B)/tacit $(DESTDIR)$(sbindir)/tacit
	$(INSTALL) -D -m 644 $(B)/man/tacit.8 $(DESTDIR)$(mandir)/man8/tacit.8
	$(INSTALL) -D -m 644 $(B)/man/tacit.cfg.5 $(DESTDIR)$(mandir)/man5/tacit.cfg.5
	$(INSTALL) -D -m 644 $(B)/man/tacit-guide.7 $(DESTDIR)$(mandir)/man7/tacit-guide.7
	$(INSTALL) -m 644 $(B)/man/tacit-scale.7 $(DESTDIR)$(mandir)/man7/tacit-scale.7
	$(INSTALL) -D -m 755 conf/certbot-deploy $(DESTDIR)$(datadir)/tacit/certbot-deploy
	$(INSTALL) -d $(DESTDIR)$(unitdir) $(DESTDIR)$(sysconfdir)/tacit
	sed 's|/usr/local/sbin|$(sbindir)|' conf/tacit.service >$(DESTDIR)$(unitdir)/tacit.service
	chmod 644 $(DESTDIR)$(unitdir)/tacit.service
	$(INSTALL) -m 644 conf/tacit.cfg $(DESTDIR)$(datadir)/tacit/tacit.cfg
	$(INSTALL) -D -m 644 conf/completion.bash $(DESTDIR)$(datadir)/bash-completion/completions/tacit
	$(INSTALL) -D -m 644 conf/completion.zsh $(DESTDIR)$(zshdir)/_tacit
	$(INSTALL) -D -m 644 conf/completion.fish $(DESTDIR)$(datadir)/fish/vendor_completions.d/tacit.fish
	$(INSTALL) -D -m 644 debian/vim/tacit.vim $(DESTDIR)$(vimdir)/ftdetect/tacit.vim
	$(INSTALL) -d $(DESTDIR)$(vimdir)/syntax $(DESTDIR)$(datadir)/tacit/vscode/syntaxes
	$(B)/tacit -dK vim >$(DESTDIR)$(vimdir)/syntax/tacit.vim
	$(INSTALL) -m 644 conf/vscode/*.json $(DESTDIR)$(datadir)/tacit/vscode
	$(B)/tacit -dK vscode >$(DESTDIR)$(datadir)/tacit/vscode/syntaxes/tacit.tmLanguage.json
	chmod 644 $(DESTDIR)$(vimdir)/syntax/tacit.vim $(DESTDIR)$(datadir)/tacit/vscode/syntaxes/tacit.tmLanguage.json

# The configuration is the user's own.
uninstall:
	rm -f $(DESTDIR)$(sbindir)/tacit $(DESTDIR)$(mandir)/man8/tacit.8 $(DESTDIR)$(mandir)/man5/tacit.cfg.5 \
		$(DESTDIR)$(mandir)/man7/tacit-guide.7 $(DESTDIR)$(mandir)/man7/tacit-scale.7 \
		$(DESTDIR)$(unitdir)/tacit.service $(DESTDIR)$(datadir)/tacit/certbot-deploy \
		$(DESTDIR)$(datadir)/tacit/tacit.cfg $(DESTDIR)$(datadir)/bash-completion/completions/tacit \
		$(DESTDIR)$(zshdir)/_tacit $(DESTDIR)$(datadir)/fish/vendor_completions.d/tacit.fish \
		$(DESTDIR)$(vimdir)/ftdetect/tacit.vim $(DESTDIR)$(vimdir)/syntax/tacit.vim
	rm -rf $(DESTDIR)$(datadir)/tacit/vscode
	[ ! -d $(DESTDIR)$(datadir)/tacit ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(datadir)/tacit
	[ ! -d $(DESTDIR)$(sysconfdir)/tacit ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(sysconfdir)/tacit
