# Builds, tests and packages Muster with GNU make, from a clean clone. `make help` prints this comment.
#
#   make              configure and build the programs in build/, with a clock that tests can shift. Installs nothing: if a package is
#                     missing, it names the package and the command that installs it.
#   make deps         install the packages that the tests need. FOR=build|unit|db|run|check|fuzz|
#                     sanitize|bench|deb|check-deb installs those of one task.
#   make demo         a first import, end to end, on a stack of its own; `make stop` ends it
#   make demo-code    the codes that sign the demo's admin in to its console
#   make sandbox      the same stack without the import
#   make check        all tests. ONLY=lint,unit,fuzz,db,e2e runs some of the suites; SHUFFLE=7 runs
#                     them in a random order, the same one for the same number.
#
#   make check-sanitized         the end-to-end tests under the address and undefined-behavior sanitizers
#
#   make unit         the unit tests. T=attributes runs the suites with that word in their names;
#                     other values of T are Boost's --run_test patterns.
#   make db           the database tests, on a private MariaDB. T as for `make unit`.
#   make e2e          the end-to-end tests. T=imports/test_imports.py runs one file, folder or test.
#   make lint         the lints. T="floors families" runs some of them.
#   make fuzz         fuzz the decoders for SECONDS=60
#   make bench        measure and compare with the floors. ONLY=P1,P3 runs some of them; BASELINE names a build for P20.
#
#   make compile_commands.json   for clangd and other tools that need the compiler's flags
#   make format       format the C++ sources
#   make release      the programs without that, in build/release; `make install` and the packages have these
#   make install      DESTDIR=… prefix=…
#   make dist         the last commit as build/muster.tar.gz
#   make deb          Debian packages of the last commit in build/deb
#   make check-deb    build the packages and test them in temporary Debian systems
#   make check-reproducible      build the packages twice and compare them
#   make clean        remove build/; `make distclean` also removes what configure wrote
#
# `demo`, `check`, `check-sanitized`, `deb`, `check-deb` and `check-reproducible` install the packages that they need.
#
#   BUILD=build/dev OPTIMIZE=-O0  a quick build for editing, in a folder of its own
#   SANITIZE=address,undefined    builds everything with the sanitizers, in a folder of its own
#   CI=true                       turns warnings into errors
#   UNITS=                        compiles file by file
#   PRECOMPILED=                  builds without precompiled headers

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

SANITIZE ?=
SANDBOX  ?= build/sandbox
PORT     ?= 8443
SECONDS  ?= 60
JOBS     ?= $(shell nproc)
BUILD    := build$(if $(SANITIZE),/$(subst $(subst ,, ),-,$(subst $(shell printf ','),-,$(SANITIZE))))

# ---------------------------------------------------------------------------- configure
configure: configure.ac
	@packaging/install-deps --check build
	autoconf
config.mk src/base/config.h: configure config.mk.in config.h.in
	@packaging/install-deps --check build
	./configure --quiet
	@touch config.mk src/base/config.h
GENERATED := src/base/config.h src/client/country_names.def
src/client/country_names.def: src/client/make-country-names
	src/client/make-country-names >$@
# These targets build nothing, or call make again after the packages are there.
WITHOUT_CONFIG := bench check check-deb check-reproducible check-sanitized clean db deb demo demo-code deps dist distclean e2e format fuzz help lint \
    sandbox stop unit
ifneq ($(filter-out $(WITHOUT_CONFIG),$(or $(MAKECMDGOALS),all)),)
include config.mk
endif

.PHONY: help deps
help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile
FOR ?= check
deps:
	@packaging/install-deps $(FOR)
	@echo "muster: the packages for \`$(FOR)\` are installed"

# ---------------------------------------------------------------------------- compile
ROOMS    := base json db rules http process net store service api jobs ctl client
CPPFLAGS += -Isrc -iquote. -I/usr/include/jsoncpp -D_GLIBCXX_ASSERTIONS -ffile-prefix-map=$(CURDIR)=. \
            -ffile-prefix-map=./=
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion \
            -Wno-sign-conversion -Wvla
OPTIMIZE ?= -O2 -g1
# Test code runs once, so optimizing it takes longer than it saves. The library that it tests is the product's.
OPTIMIZE_TESTS ?= -O0 -g1
CXXFLAGS += $(CXX_STANDARD) $(OPTIMIZE) $(WARNINGS) $(HARDENING) -fPIE -pthread
LDFLAGS  += -pie -pthread -Wl,-z,relro,-z,now -Wl,--as-needed
ifneq ($(SANITIZE),)
# Under -fsanitize=undefined GCC 12 cannot check SQL texts and endpoint rows at compile time (its bug 71962).
CXX      := clang++
# The address sanitizer keeps freed memory, and its search for leaks attaches to the process.
CPPFLAGS += $(if $(findstring address,$(SANITIZE)),-DMUSTER_SANITIZED)
# The times of the headers would make each precompiled header another one for ccache.
CPPFLAGS += -Xclang -fno-pch-timestamp
# Some of the options for warnings exist only in GCC: -Wno-unknown-warning-option.
CXXFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-unknown-warning-option
LDFLAGS  += -fsanitize=$(SANITIZE)
else
FORTIFY   = -U_FORTIFY_SOURCE $(if $(filter -O0,$(OPTIMIZE)),,-D_FORTIFY_SOURCE=2)
endif
CCACHE   := $(shell command -v ccache 2>/dev/null)
# CI fails on warnings without -Werror, so that builds with and without CI share the compiler cache.
STRICTLY  = $(if $(CI),2>$@.said || { cat $@.said >&2; exit 1; }; cat $@.said >&2; test ! -s $@.said && rm $@.said)
COMPILE   = $(CCACHE) $(CXX) $(CPPFLAGS) $(FORTIFY) $(CXXFLAGS) -MMD -MP -c $< -o $@ $(STRICTLY)
LIBS     := -lmysqlcppconn -ljsoncpp -lsimdjson -lcurl -lcares -lgumbo -lutf8proc -lcrypto -lz

# ---------------------------------------------------------------------------- units
# Headers take most of the compiler's time, so it compiles a folder's files together, as units of up to $(UNITS) files in
# alphabetical order. `make UNITS= PRECOMPILED=` compiles file by file, and finds files with a missing include.
UNITS ?= 8
# objects_of SOURCES: the objects of their units. A unit is a list of includes that has the name of its first file.
objects_of = $(foreach folder,$(sort $(dir $(1))),$(call units_of,$(filter $(wildcard $(folder)*.cpp),$(1))))
units_of   = $(if $(1),$(call unit,$(wordlist 1,$(UNITS),$(1))) $(call units_of,$(filter-out $(wordlist 1,$(UNITS),$(1)),$(1))))
unit       = $(eval $(call UNIT,$(BUILD)/$(dir $(firstword $(1)))unit_$(notdir $(firstword $(1))),$(1)))$(UNIT_OBJECT)
# Written again only if the list of files changed.
define UNIT
UNIT_OBJECT := $(1:.cpp=.o)
$(1): $(if $(filter-out $(2:%="%"),$(filter "%,$(file <$(1))))$(filter-out $(filter "%,$(file <$(1))),$(2:%="%")),changed)
	@mkdir -p $$(@D)
	@printf '#include "%s"\n' $(2) >$$@
endef
.PHONY: changed
ifeq ($(UNITS),)
objects_of = $(1:%.cpp=$(BUILD)/%.o)
endif

LIB_SOURCES  := $(sort $(shell find $(ROOMS:%=src/%) -name '*.cpp'))
LIB_OBJECTS  := $(call objects_of,$(LIB_SOURCES))
PROGRAMS     := musterd muster-run musterctl muster-import
PROGRAM_BINS := $(PROGRAMS:%=$(BUILD)/%)
RELEASE_BINS := $(PROGRAMS:%=$(BUILD)/release/%)
FUZZ_TARGETS := $(patsubst tests/fuzz/%.cpp,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.cpp))

.PHONY: all release
all: $(PROGRAM_BINS)
release: $(RELEASE_BINS)

$(BUILD)/%.o: %.cpp | config.mk $(GENERATED)
	@mkdir -p $(@D)
	$(COMPILE)
$(BUILD)/%.o: $(BUILD)/%.cpp | config.mk $(GENERATED)
	$(COMPILE)

$(BUILD)/libmuster.a: $(LIB_OBJECTS)
	@rm -f $@
	ar rcsD $@ $^

$(BUILD)/musterd $(BUILD)/release/musterd: $(BUILD)/src/main/musterd.o
$(BUILD)/muster-run $(BUILD)/release/muster-run: $(BUILD)/src/main/muster_run.o
$(BUILD)/musterctl $(BUILD)/release/musterctl: $(BUILD)/src/main/musterctl.o
$(BUILD)/muster-import $(BUILD)/release/muster-import: $(BUILD)/src/main/muster_import.o
# Only the programs for tests have a clock that MUSTER_CLOCK_OFFSET shifts.
$(PROGRAM_BINS): $(BUILD)/tests/programs/clock_offset.o
$(PROGRAM_BINS) $(RELEASE_BINS): $(BUILD)/libmuster.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $(filter %.o,$^) $(BUILD)/libmuster.a $(LIBS) -o $@

# ---------------------------------------------------------------------------- tests
# Not in units: both programs link loopback_server, and main.cpp configures Boost.Test before it includes it.
APART        := tests/unit/client/loopback_server.cpp tests/unit/main.cpp tests/db/main.cpp
UNIT_OBJECTS := $(call objects_of,$(filter-out $(APART),$(sort $(shell find tests/unit -name '*.cpp')))) \
                $(BUILD)/tests/unit/main.o $(BUILD)/tests/unit/client/loopback_server.o
DB_OBJECTS   := $(call objects_of,$(filter-out $(APART),$(sort $(shell find tests/db -name '*.cpp')))) \
                $(BUILD)/tests/db/main.o $(BUILD)/tests/unit/client/loopback_server.o
# In a unit GCC warns about test cases with a fixture of an anonymous namespace.
$(BUILD)/tests/%.o: CPPFLAGS += -DBOOST_TEST_DYN_LINK -Itests -Wno-subobject-linkage
$(BUILD)/tests/unit/%.o $(BUILD)/tests/db/%.o $(BUILD)/tests/fuzz/%.o: OPTIMIZE = $(OPTIMIZE_TESTS)

# ---------------------------------------------------------------------------- precompiled headers
# Parsing these headers takes half of the front end's time otherwise.
PRECOMPILED ?= algorithm array atomic chrono cstdint fstream functional future map memory mutex optional random set span \
    sstream stdexcept string string_view thread tuple unordered_map utility variant vector json/value.h
ifneq ($(PRECOMPILED),)
PRECOMPILED_IN_src   := $(PRECOMPILED)
# No header of the project: ccache may return a header that was compiled in another tree, and #pragma once compares file times.
PRECOMPILED_IN_tests := boost/test/unit_test.hpp $(PRECOMPILED)
# With a precompiled header GCC warns about code inside std::string (GCC bugs 105329, 105651).
SYSTEM_WARNINGS := -Wno-array-bounds -Wno-restrict
# main.cpp configures Boost.Test before it includes it.
USERS_IN_src   := $(LIB_OBJECTS) $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard src/main/*.cpp))
# Both lists have loopback_server. Twice in this one, it would get the flags twice, and clang rejects that.
USERS_IN_tests := $(sort $(filter-out %/main.o,$(UNIT_OBJECTS) $(DB_OBJECTS)))
.SECONDARY: $(BUILD)/src/precompiled.hpp $(BUILD)/tests/precompiled.hpp
$(BUILD)/%/precompiled.hpp: Makefile
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(PRECOMPILED_IN_$*) >$@
# Clang's names the path of its source, so it is not taken from ccache: it may be of another tree, which no longer exists.
$(BUILD)/%/precompiled.hpp.gch: $(BUILD)/%/precompiled.hpp | config.mk src/base/config.h
	$(if $(SANITIZE),,$(CCACHE)) $(CXX) $(CPPFLAGS) $(FORTIFY) $(CXXFLAGS) -x c++-header -c $< -o $@
$(BUILD)/tests/precompiled.hpp.gch: OPTIMIZE = $(OPTIMIZE_TESTS)
$(BUILD)/tests/precompiled.hpp.gch: CPPFLAGS += -DBOOST_TEST_DYN_LINK -Itests
define USE_PRECOMPILED
$(USERS_IN_$(1)): $(BUILD)/$(1)/precompiled.hpp.gch
$(USERS_IN_$(1)): private CPPFLAGS += -include $(BUILD)/$(1)/precompiled.hpp -Winvalid-pch -fpch-preprocess $(SYSTEM_WARNINGS)
endef
$(foreach folder,src tests,$(eval $(call USE_PRECOMPILED,$(folder))))
export CCACHE_SLOPPINESS := pch_defines,time_macros
endif

$(BUILD)/unit-tests: $(UNIT_OBJECTS) $(BUILD)/libmuster.a
	$(CXX) $(LDFLAGS) $^ $(LIBS) -lboost_unit_test_framework -o $@
$(BUILD)/db-tests: $(DB_OBJECTS) $(BUILD)/libmuster.a
	$(CXX) $(LDFLAGS) $^ $(LIBS) -lboost_unit_test_framework -o $@
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(BUILD)/libmuster.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $^ $(LIBS) -o $@

# Without the flags for precompiled headers: they are in GCC's own format, and clangd reads the plain headers.
ALL_SOURCES := $(LIB_SOURCES) $(wildcard src/main/*.cpp) $(sort $(shell find tests -name '*.cpp'))
COMPILE_COMMAND = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(strip $(CXX) $(CPPFLAGS) \
    $(if $(filter tests/%,$(1)),-DBOOST_TEST_DYN_LINK -Itests) $(CXXFLAGS)) -c $(1)"}
define BETWEEN_COMMANDS
},
{
endef
.PHONY: compile_commands.json
compile_commands.json: config.mk $(GENERATED)
	$(file >$@,[$(subst } {,$(BETWEEN_COMMANDS),$(foreach source,$(ALL_SOURCES),$(call COMPILE_COMMAND,$(source))))])
	@echo "$@: $(words $(ALL_SOURCES)) files"

IN_PARALLEL := --no-print-directory -j$(JOBS)
# A bare word selects all suites with it in their names.
BOOST_TESTS = $(if $(T),--run_test='$(if $(strip $(foreach sign,/ * : !,$(findstring $(sign),$(T)))),$(T),*$(T)*)')
.PHONY: check check-build check-sanitized unit db e2e lint fuzz bench format
check:
	@packaging/install-deps check
	@$(if $(SANITIZE),packaging/install-deps sanitize)
	@mkdir -p $(BUILD) && date +%s >$(BUILD)/build-began
	@$(MAKE) $(IN_PARALLEL) check-build
	@BUILD=$(BUILD) ONLY=$(ONLY) $(SHUFFLE:%=SHUFFLE=%) BUILT_IN=$$(($$(date +%s) - $$(cat $(BUILD)/build-began))) tests/run-all
check-build: all release $(BUILD)/unit-tests $(BUILD)/db-tests $(FUZZ_TARGETS)
unit:
	@packaging/install-deps --check unit
	@$(MAKE) $(IN_PARALLEL) $(BUILD)/unit-tests
	$(BUILD)/unit-tests $(BOOST_TESTS)
db:
	@packaging/install-deps --check db
	@$(MAKE) $(IN_PARALLEL) $(BUILD)/db-tests
	tests/db/with-database $(BUILD)/db-tests $(BOOST_TESTS)
# The whole suite also runs the commands of the docs, and one needs the unit tests.
e2e:
	@packaging/install-deps --check check
	@$(MAKE) $(IN_PARALLEL) all release $(if $(T),,$(BUILD)/unit-tests)
	$(if $(T),BUILD=$(BUILD) /usr/bin/python3 -m pytest -q $(patsubst %,tests/e2e/%,$(T:tests/e2e/%=%)),BUILD=$(BUILD) ONLY=e2e tests/run-all)
# Programs under the sanitizers are about three times slower.
check-sanitized:
	@packaging/install-deps sanitize
	@E2E_SECONDS=5400 $(MAKE) --no-print-directory SANITIZE=address,undefined e2e
lint:
	@packaging/install-deps --check check
	@$(MAKE) $(IN_PARALLEL) all
	@BUILD=$(BUILD) tests/lint/run $(T)
fuzz:
	@packaging/install-deps --check fuzz
	@BUILD=build/fuzzing SECONDS_IN_ALL=$(SECONDS) tests/fuzz/run-fuzzers
bench:
	@packaging/install-deps --check bench
	@$(MAKE) $(IN_PARALLEL) all bench-floors
	@BUILD=$(BUILD) tests/bench/run $(if $(ONLY),--only $(ONLY)) $(if $(BASELINE),--baseline $(BASELINE))
format:
	@git ls-files 'src/*.[ch]pp' 'tests/*.[ch]pp' | xargs clang-format -i

# Minimal programs that measure the floors for the bench.
BENCH_FLOORS := $(patsubst tests/bench/%.cpp,$(BUILD)/bench/%,$(wildcard tests/bench/floor_*.cpp))
.PHONY: bench-floors
bench-floors: $(BENCH_FLOORS)
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libmuster.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< $(BUILD)/libmuster.a -lfcgi $(LIBS) -o $@

# ---------------------------------------------------------------------------- run
.PHONY: demo demo-code sandbox stop
demo:
	@packaging/install-deps run
	@$(MAKE) $(IN_PARALLEL) all
	@BUILD=$(BUILD) SANDBOX=$(SANDBOX) PORT=$(PORT) tests/sandbox/demo
demo-code:
	@tests/sandbox/sign-in --codes $(SANDBOX)
sandbox:
	@packaging/install-deps --check run
	@$(MAKE) $(IN_PARALLEL) all
	@BUILD=$(BUILD) SANDBOX=$(SANDBOX) PORT=$(PORT) RATES=$(RATES) PROVIDERS=$(PROVIDERS) tests/sandbox/start
stop:
	@SANDBOX=$(SANDBOX) tests/sandbox/stop

# ---------------------------------------------------------------------------- install
prefix  ?= /usr
sysconf ?= /etc
.PHONY: install dist clean distclean
install: release
	install -D -m 755 $(BUILD)/release/musterd $(DESTDIR)$(prefix)/sbin/musterd
	install -D -m 755 $(BUILD)/release/musterctl $(DESTDIR)$(prefix)/sbin/musterctl
	install -D -m 755 $(BUILD)/release/muster-run $(DESTDIR)$(prefix)/sbin/muster-run
	install -D -m 755 $(BUILD)/release/muster-import $(DESTDIR)$(prefix)/bin/muster-import
	install -d $(DESTDIR)$(prefix)/share/muster
	cp -R sql $(DESTDIR)$(prefix)/share/muster/
	install -D -m 644 cron/muster $(DESTDIR)$(sysconf)/cron.d/muster
	install -D -m 755 cron/run-job $(DESTDIR)$(prefix)/lib/muster/run-job
	install -D -m 644 nginx/muster.conf $(DESTDIR)$(sysconf)/nginx/sites-available/muster.conf
	install -d $(DESTDIR)$(sysconf)/nginx/snippets
	install -m 644 nginx/snippets/*.conf $(DESTDIR)$(sysconf)/nginx/snippets/
	install -D -m 644 nginx/static/js/muster.js $(DESTDIR)$(prefix)/share/muster/js/muster.js
	packaging/install-console nginx/static/console $(DESTDIR)$(prefix)/share/muster/console
	install -d $(DESTDIR)$(sysconf)/muster
	# Keeps an existing configuration. `musterd --print-config` prints the shipped one.
	test -e $(DESTDIR)$(sysconf)/muster/muster.conf || { umask 027 && \
	    $(BUILD)/release/musterd --print-config > $(DESTDIR)$(sysconf)/muster/muster.conf; }
	for program in musterctl muster-import; do install -D -m 644 packaging/bash-completion/$$program \
	    $(DESTDIR)$(prefix)/share/bash-completion/completions/$$program; done
	# Pages for developers are in the source only.
	install -D -m 644 -t $(DESTDIR)$(prefix)/share/doc/muster CHANGES
	# The pages of docs/ are next to it there.
	sed 's@](docs/@](@g' README.md | install -m 644 /dev/stdin $(DESTDIR)$(prefix)/share/doc/muster/README.md
	for text in $$(cd docs && find * \( -name '*.md' -o -name growth.svg \) ! -path 'developers/*' ! -path 'decisions/*'); do \
	    install -D -m 644 docs/$$text $(DESTDIR)$(prefix)/share/doc/muster/$$text; done
	install -d $(DESTDIR)$(prefix)/share/doc/muster/examples
	install -m 644 docs/examples/* $(DESTDIR)$(prefix)/share/doc/muster/examples/
	for section in 1 5 7 8; do for page in man/*.$$section; do test ! -e $$page || \
	    install -D -m 644 $$page $(DESTDIR)$(prefix)/share/man/man$$section/$${page#man/}; done; done

dist:
	@mkdir -p build
	git archive --prefix=muster-$$(sed -n 's/^AC_INIT(\[muster\],\[\(.*\)\])/\1/p' configure.ac)/ HEAD \
	    | gzip -n > build/muster.tar.gz

# Packages the last commit, not the working tree, so that each package has a known source.
.PHONY: deb check-deb check-reproducible
deb:
	@packaging/install-deps deb
	@$(MAKE) --no-print-directory dist
	@JOBS=$(JOBS) packaging/build-deb build/muster.tar.gz build/deb
	@packaging/lint-deb build/deb
	@ls -1 build/deb/*.deb
check-deb: deb
	@packaging/install-deps check-deb
	@BUILD=$(BUILD) packaging/check-deb
check-reproducible:
	@packaging/install-deps deb
	@JOBS=$(JOBS) packaging/check-reproducible

clean:
	rm -rf build
distclean: clean
	rm -rf compile_commands.json configure configure~ config.mk config.log config.status autom4te.cache $(GENERATED)

-include $(shell find $(BUILD)/src $(BUILD)/tests -name '*.d' 2>/dev/null)
