# tacit: every habit is one word here. How a flavour is compiled stands in build-aux/build.mk.
#
#   make                the release build: build/tacit
#   make run            build, then start conf/demo.cfg and its origin in the foreground
#   make check          the tests; the last line is the totals
#   make nightly        everything, in every flavour: two hours
#   make fresh          make run and make check on a new machine: a bare Debian 12, as root and as a user (needs root)
#   make unit|lint|replay|torture|sim|vtc|system|servers  one part of it (SEED=n for torture and sim)
#   make threads        the unit tests that start a thread: F=tsan looks for races
#   make oracle         play what tests compare tacit with to HAProxy, and write its answers to tests/oracle/ (root; T=cookie: of one file)
#   make oracle-same    the same into build/oracle/, and compare
#   make drivers        programs of others that drive HAProxy, unchanged (installs them; PyPI's into build/drivers)
#   make tables         500 random schedules (N=n) against HAProxy, reloads under load, 10 minutes of peers: half an hour
#   make all-servers    install the servers that health checks are made for (MariaDB, PostgreSQL ...), and check each
#   make slow           10^5 bodies checked, 10^6 over TLS, a million connections, blocks of HPACK, 1,000 reloads: half an hour
#   make screens        the statistics page in pictures (UPDATE_SHOTS=1 renews them)
#   make dev            -O1 with ASan, UBSan and magics, and the unit tests under them
#   make tsan           the same under ThreadSanitizer
#   make tsan-system    four workers under ThreadSanitizer, from outside
#   make workers-system three workers of the release build, from outside
#   make fuzz T=x S=60  fuzz one target (default: each) for S seconds
#   make instructions   user instructions per request against the committed report, by callgrind
#   make bench          the measurements (half an hour), into build/bench/
#   make cov            line coverage of the tests, into build/cov/html/
#   make path           the files that one TCP connection passes, from accept to its log line
#   make install        DESTDIR= prefix=/usr/local
#   make uninstall      with the same DESTDIR and prefix; a configuration that was changed stays
#   make configure      make ./configure, which a packed release brings; then ./configure && make
#   make deb            the Debian packages, into build/deb/
#   make upgrade        build the packages of 0.1, too, and upgrade them under load (root)
#   make dist           pack the sources; distcheck: build and test what was packed, too
#   make html           the manual as a site, without scripts and other hosts, into build/html/
#   make fsm.svg        the picture of the state machines, build/fsm.svg
#   make format         break the lines that are too wide, as .clang-format says
#   make clean          remove what was built; distclean: what configure made, too
#   make help           this list
#
# NOINSTALL=1 skips installing missing Debian packages, CI=1 makes warnings errors, V=1 shows commands. Tests find the
# programs of declared Debian packages only: DEPS=ci those of .ci/run, too (a browser, systemd), DEPS=any what PATH has.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all

# Each flavour has a directory of its own and may have words for configure.
FLAVOURS = release clang dev tsan cov fuzz path
DIR_release = build
DIR_clang = build/clang
DIR_dev = build/dev
DIR_tsan = build/tsan
DIR_cov = build/cov
DIR_fuzz = build/fuzz
DIR_path = build/path
CONF_clang = CC=clang
CONF_dev = --without-jemalloc
CONF_tsan = --without-jemalloc
CONF_cov = --without-jemalloc
CONF_fuzz = --without-jemalloc CC=clang

JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
inner = +@$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) \
	-f build-aux/build.mk B=$(DIR_$(1)) FLAVOUR=$(1)

# Several targets at once would build the same library side by side; the make inside runs in parallel.
.NOTPARALLEL:

# Where a test target adds its "name passed failed skipped" line, for the totals; - is nowhere.
TALLY ?= -
F ?= release
programs = $(patsubst %.c,$(DIR_$(F))/%,$(sort $(wildcard $(1))))
torture_src = tests/sim/test_torture*.c
# Takes as long as all others: in parts. The longest tests come first, so that the last one to end is a short one. Each part
# counts the call stacks that fail by itself.
torture_parts = $(if $(TORTURE_SITES),2,16)
torture_process = $(foreach i,$(shell seq $(torture_parts)),$(DIR_$(F))/tests/sim/test_torture_process@$(i)of$(torture_parts))
long_unit_src = $(patsubst %,tests/unit/%.c,tls/test_transport_faults tls/test_cert h2/test_h2_pair app/config/test_config_faults)
unit_src = $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c)
long_sim_src = tests/sim/test_simulation.c tests/sim/test_tls_sessions.c
sim_src = $(filter-out $(wildcard $(torture_src)),$(wildcard tests/sim/test_*.c))

# Tests find the programs of the packages that build-aux/install-deps names for this list, and no others.
DEPS ?= test
with = sh build-aux/with-declared $(if $(filter any,$(DEPS)),any,$(1))
run_tests = @$(call with,$(DEPS)) sh build-aux/run-tests
run_pytest = @$(call with,$(DEPS)) python3 build-aux/run-pytest

# What the sanitizers should say when they find something. Ten frames of each allocation are enough to know it: to note 30 takes
# a tenth of the time of simulations.
export ASAN_OPTIONS ?= detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1:malloc_context_size=10
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1:allocator_may_return_null=1

.PHONY: all
all: $(DIR_release)/config.mk
	$(call inner,release) all

.PHONY: help
help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

.PHONY: run
run: all
	$(call inner,release) demo
	@sed '/^$$/q; s/^# \{0,1\}//' conf/demo.cfg
	@exec $(DIR_release)/origin 127.0.0.1 18080 $(DIR_release)/tacit -db -f conf/demo.cfg

# --- set-up ----------------------------------------------------------------------------------------------
.PHONY: deps-build deps-test deps-ci deps-servers deps-drivers deps-bench deps-doc deps-deb deps-fresh
deps-build deps-test deps-ci deps-servers deps-drivers deps-bench deps-doc deps-deb deps-fresh: deps-%:
	@$(if $(NOINSTALL),:,sh build-aux/install-deps $*)

configure: configure.ac | deps-build
	autoconf -o $@ $<
	@rm -rf autom4te.cache

# If ./configure was run here by hand, the release build takes its options.
define flavour
$(DIR_$(1))/config.mk: configure config.mk.in $(if $(CONF_$(1)),,$(wildcard config.status)) | deps-build
	@mkdir -p $$(@D)
	@words=$$$$( [ "$(1)" != release ] || [ ! -x config.status ] || ./config.status --config ) && \
	eval "set -- $$$$words" && cd $$(@D) && $$(CURDIR)/configure --quiet $$(CONF_$(1)) "$$$$@"
	@touch $$@
endef
$(foreach f,$(FLAVOURS),$(eval $(call flavour,$(f))))

# --- tests: each runs alone, in the flavour F= -----------------------------------------------------------
# Unit tests that start a thread.
threaded_src = $(shell grep -lE 'pthread_create|thread_start|mailbox_stress|nbthread [2-9]' -r tests/unit --include='test_*.c')

.PHONY: tests unit threads torture sim replay vtc system oracle oracle-same tables servers all-servers drivers screens slow lint bare bench-self
tests: $(DIR_$(F))/config.mk
	$(call inner,$(F)) tests

unit: $(DIR_$(F))/config.mk
	$(call inner,$(F)) units
	$(run_tests) unit-$(F) $(TALLY) $(call programs,$(long_unit_src)) $(call programs,$(filter-out $(long_unit_src),$(unit_src)))

threads: $(DIR_$(F))/config.mk
	$(call inner,$(F)) $(call programs,$(threaded_src))
	$(run_tests) threads-$(F) $(TALLY) $(call programs,$(threaded_src))

torture: tests
	$(run_tests) torture-$(F) $(TALLY) $(torture_process) $(filter-out %_process,$(call programs,$(torture_src)))

sim: tests
	$(run_tests) sim-$(F) $(TALLY) $(call programs,$(long_sim_src)) $(call programs,$(filter-out $(long_sim_src),$(sim_src)))

replay: $(DIR_$(F))/config.mk
	$(call inner,$(F)) replay
	$(run_tests) replay-$(F) $(TALLY) $(call programs,tests/fuzz/fuzz_*.c)

vtc: deps-test tests
	@$(call with,$(DEPS)) sh build-aux/run-vtc vtc-$(F) $(TALLY) $(DIR_$(F))/tacit $(sort $(wildcard tests/vtc/*.vtc))

system: deps-test tests bare
	$(run_pytest) system-$(F) $(TALLY) $(DIR_$(F)) tests/system

screens: deps-ci
	@$(call with,ci) python3 build-aux/run-pytest screens $(TALLY) $(DIR_$(F)) tests/system/screens

# One file at a time: HAProxy's answers should not depend on how busy the machine is.
oracle_tests = $(wildcard tests/system/test_oracle_*.py) $(shell grep -l '\<\(tls_\)\?oracle\>' tests/system/test_*.py)
oracle_files = $(if $(T),test_$(T).py test_oracle_$(T).py,$(filter-out test_recordings.py,$(sort $(notdir $(oracle_tests)))))
record = ORACLE=record PYTEST_JOBS=$(or $(PYTEST_JOBS),1) $(call with,$(DEPS))
ORACLE_DIR ?= tests/oracle
oracle: deps-test tests
	@[ "$$(id -u)" = 0 ] || { echo "make oracle: some of the tests need root, and their answers would be gone" >&2; exit 1; }
	@mkdir -p $(ORACLE_DIR) && rm -f $(ORACLE_DIR)/$(or $(T),*).txt
	@rc=0; $(if $(filter vtc,$(T)),,PYTEST_FILES="$(oracle_files)" \
		$(record) python3 build-aux/run-pytest oracle $(TALLY) $(DIR_$(F)) tests/system || rc=1;) \
	$(if $(filter-out vtc,$(T)),,$(record) sh build-aux/run-vtc oracle-vtc $(TALLY) $(DIR_$(F))/tacit \
		$(sort $(wildcard tests/vtc/*.vtc)) || rc=1;) exit $$rc

# HAProxy's answers once more: are they those that tests/oracle has?
oracle-same: deps-test tests
	@$(call with,$(DEPS)) sh build-aux/oracle-same $(TALLY)

# Random schedules of traffic, played to HAProxy and to tacit now: is `show table` the same? Then reloads and deaths under load,
# and ten minutes of restarts among peers, one of them HAProxy.
tables: deps-test tests
	@mkdir -p build/oracle.tables
	@rc=0; ORACLE=record ORACLE_DIR=$(CURDIR)/build/oracle.tables SCHEDULES=$(or $(N),500) PYTEST_FILES="test_oracle_schedules.py test_oracle_streams.py" \
		PYTEST_TIMEOUT=5400 $(call with,$(DEPS)) python3 build-aux/run-pytest schedules $(TALLY) $(DIR_$(F)) tests/system || rc=1; \
	TACIT_TABLES=1 PYTEST_FILES="test_tables.py test_oracle_peers.py" PYTEST_TIMEOUT=5400 \
		$(call with,$(DEPS)) python3 build-aux/run-pytest tables $(TALLY) $(DIR_$(F)) tests/system || rc=1; exit $$rc

# Health checks against the servers that they are made for: those that start at once, if they are installed; and all.
servers: deps-test tests
	@$(call with,servers) python3 build-aux/run-pytest servers-$(F) $(TALLY) $(DIR_$(F)) tests/system/servers

all-servers: deps-servers tests
	@TACIT_SERVERS=all $(call with,servers) python3 build-aux/run-pytest all-servers-$(F) $(TALLY) $(DIR_$(F)) tests/system/servers

# Programs of others that drive HAProxy or read its logs, of Debian and, in these versions, of PyPI: half a gigabyte.
pypi = $(patsubst tests/system/drivers/requirements/%.txt,build/drivers/%/installed,$(wildcard tests/system/drivers/requirements/*.txt))
# A list that cannot be installed is a failure, and those that need it are skipped.
drivers: deps-drivers tests
	@$(MAKE) -k $(pypi) || true
	@rc=0 p=0 f=0; for list in $(pypi); do \
		if [ -e $$list ]; then p=$$((p + 1)); else f=$$((f + 1)) rc=1; echo "failed test: $$list"; fi; done; \
	[ "$(TALLY)" = - ] || echo "drivers-pypi $$p $$f 0" >>"$(TALLY)"; \
	echo "drivers-pypi: $$p passed, $$f failed, 0 skipped"; \
	$(call with,drivers) python3 build-aux/run-pytest drivers-$(F) $(TALLY) $(DIR_$(F)) tests/system/drivers || rc=1; exit $$rc

build/drivers/%/installed: tests/system/drivers/requirements/%.txt | deps-drivers
	rm -rf $(@D)
	$(call with,drivers) python3 -m pip install -q --require-hashes --no-deps --root-user-action ignore --target $(@D) -r $<
	touch $@

# The benchmark's own parts: its readers, its verdicts, and that the limit forwards correctly.
bench-self: deps-test bare
	$(run_pytest) bench-self $(TALLY) $(DIR_release) tests/bench

# 10^5 bodies, 10^6 over TLS, a million connections, 1,000 reloads, 10^8 mails, 10^7 orders of ranges: half an hour.
slow_src = tests/unit/event/test_mail_queue.c tests/unit/base/test_ranges.c
slow: deps-test tests
	@TACIT_SLOW=1 TEST_TIMEOUT=3600 $(call with,$(DEPS)) sh build-aux/run-tests slow-unit-$(F) $(TALLY) $(call programs,$(slow_src))
	@TACIT_SLOW=1 PYTEST_TIMEOUT=3600 PYTEST_ADDOPTS="-k 'thousand_bodies or million or long_wait or many_reloads or misbehaving or random_requests'" \
		$(call with,$(DEPS)) python3 build-aux/run-pytest slow-$(F) $(TALLY) $(DIR_$(F)) tests/system

# It reads the objects of the program and of the unit tests.
lint: deps-test $(DIR_release)/config.mk
	$(call inner,release) tests
	@mkdir -p build/log; \
	$(call with,$(DEPS)) python3 tests/lint/lint.py --objects $(DIR_release)/obj --tally $(TALLY) >build/log/lint.places 2>&1 & rc=0; \
	$(call with,$(DEPS)) python3 build-aux/run-pytest lint-self $(TALLY) $(DIR_release) tests/lint || rc=1; \
	wait $$! || rc=1; cat build/log/lint.places; exit $$rc

# Daemons with several workers wherever a test does not say how many: all of vtc and system, which takes
# ThreadSanitizer three minutes. It counts a socket that is written to and another that is read as an order
# between two threads, unless io_sync says no: most of what one session does would hide what another does.
.PHONY: tsan-system workers-system
tsan-system:
	@TACIT_WORKERS=4 TSAN_OPTIONS=$(TSAN_OPTIONS):io_sync=0 $(MAKE) -k F=tsan vtc system

workers-system:
	@TACIT_WORKERS=3 $(MAKE) -k vtc system

.PHONY: dev tsan fuzz bench bench-gate instructions cov
dev tsan:
	@$(MAKE) F=$@ unit

fuzz: deps-ci $(DIR_fuzz)/config.mk
	$(call inner,fuzz) replay
	@$(call with,ci) sh build-aux/run-fuzz fuzz $(TALLY) $(DIR_fuzz) $(or $(S),60) $(or $(T),all)

bare: $(DIR_release)/config.mk
	$(call inner,release) benches

bench: deps-bench all bare
	$(call with,bench) python3 tests/bench/bench

# The parts of it that are exact and take seconds: system calls per connection against their bounds, and user instructions
# per request against the committed report.
bench-gate: deps-bench all bare
	@$(call with,bench) python3 tests/bench/bench --gate calls

instructions: deps-ci all bare
	@$(call with,ci) python3 tests/bench/bench --gate instructions

cov: deps-ci $(DIR_cov)/config.mk
	$(call inner,cov) tests
	@sh build-aux/run-cov $(DIR_cov)

# Functions say when they are entered: which files has one to know who follows a connection?
.PHONY: path
path: deps-test all $(DIR_path)/config.mk
	$(call inner,path) all path
	@rm -f $(DIR_path)/files.txt
	$(run_pytest) path $(TALLY) $(DIR_path) tests/system/path; rc=$$?; cat $(DIR_path)/files.txt; exit $$rc

# --- the gates -------------------------------------------------------------------------------------------
# In one go: install, build, run each gate, show the end of what failed, one line of totals.
CHECK_GATES = tests unit lint replay torture sim bench-self vtc system servers
CI_GATES = dev-unit dev-torture dev-sim/dev tsan-threads/tsan clang-syntax/clang instructions packages declared
NIGHTLY_GATES = dev-unit dev-replay dev-torture dev-sim dev-vtc dev-system/dev tsan tsan-system/tsan workers-system \
	all-servers drivers screens oracle-same tables clang/clang path/path ci-fuzz/fuzz distcheck/distcheck instructions packages upgrade \
	declared

.PHONY: check nightly fresh ci-gates nightly-gates dev-unit dev-replay dev-torture dev-sim dev-vtc dev-system declared \
	tsan-threads clang clang-syntax ci-fuzz
check: deps-test
	@sh build-aux/gates $(TALLY) $(CHECK_GATES)

# A new machine has none of what a list forgot: libraries, data, programs that others find.
fresh: deps-fresh
	@sh build-aux/fresh $(TALLY)

# The release build has played all cases of long tests, and nightly does so with sanitizers. Here they play each fifth one, and
# fail two calls of each call stack.
ci-gates: deps-ci
	@DEPS=ci DEB_BUILD_OPTIONS=noopt TEST_EVERY=5 TORTURE_SITES=2 sh build-aux/gates $(TALLY) $(CI_GATES)

# Every flavour of every test: before a release, and before an issue is called done.
nightly:
	@sh build-aux/run-parts nightly check nightly-gates

nightly-gates: deps-ci
	@DEPS=ci sh build-aux/gates $(TALLY) $(NIGHTLY_GATES)

dev-unit dev-replay dev-torture dev-sim dev-vtc dev-system: dev-%:
	@$(MAKE) F=dev $*

# One thread has no races: `make tsan` runs the other unit tests, too.
tsan-threads:
	@$(MAKE) F=tsan threads

# All packages are there for it: which programs belong to them is known of these only.
declared: deps-ci
	@$(call with,ci) python3 build-aux/run-pytest declared $(TALLY) $(DIR_release) tests/lint -k test_declared

clang: deps-ci $(DIR_clang)/config.mk
	$(call inner,clang) WERROR=1 tests replay

# Its warnings, without the time that code takes.
clang-syntax: deps-ci $(DIR_clang)/config.mk
	$(call inner,clang) WERROR=1 syntax

ci-fuzz:
	@$(MAKE) fuzz S=20

# --- packing and installing ------------------------------------------------------------------------------
.PHONY: man html install uninstall dist distcheck deb packages upgrade fsm.svg format clean distclean
man install uninstall: all
	$(call inner,release) $@

html: deps-doc man
	$(call with,doc) python3 build-aux/html $(DIR_release)/html $(DIR_release)/man

dist: configure
	@sh build-aux/dist $(DIR_release)

distcheck: configure
	@$(call with,ci) sh build-aux/dist $(DIR_release) check

deb: deps-deb configure
	@$(call with,deb) sh build-aux/deb $(DIR_release)

packages: deb
	@$(call with,deb) python3 build-aux/run-pytest packages $(TALLY) $(DIR_release) tests/packages

# It builds the packages of another version, too.
upgrade: deb
	@PYTEST_FILES=upgrade_of_0_1.py PYTEST_TIMEOUT=1800 $(call with,deb) python3 build-aux/run-pytest upgrade $(TALLY) $(DIR_release) \
		tests/packages

# The picture of the state machines, out of the rows that the program runs on.
fsm.svg: deps-doc
	@mkdir -p build
	$(call with,doc) python3 build-aux/fsm-dot include/proxy/model/fsm.tbl.h >build/fsm.dot
	$(call with,doc) dot -Tsvg -o build/fsm.svg build/fsm.dot

format:
	python3 build-aux/format src include tests

clean:
	rm -rf build

# configure is a file of a packed release: only where it can be made again it goes.
distclean: clean
	rm -rf autom4te.cache config.status config.log config.mk $(if $(wildcard .git),configure configure~)
