# Muster's build: GNU make over config.mk. Every target runs from a clean clone.
# The programs are src/main/*.cpp over one library made of all other rooms; see HACKING.md.
#
#   make            configure and build            make check     lint, unit, db, fuzz corpora, e2e
#   make demo       a first import, end to end     make sandbox   a clean stack; `make stop` ends it
#   make lint       the house's rules              make bench     figures beside their floors (ONLY=P1,P3)
#   make fuzz       fuzz for SECONDS=60            make install   DESTDIR=… prefix=…
#   make deb        Debian packages in build/deb   make dist      the last commit as build/muster.tar.gz
#
#   SANITIZE=address,undefined   builds into a folder of its own, with every program under the sanitizers
#   CI=true                      turns warnings into errors

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
	@packaging/install-deps build
	autoconf
config.mk src/base/config.h: configure config.mk.in config.h.in
	@packaging/install-deps build
	./configure --quiet
	@touch config.mk src/base/config.h
ifeq ($(filter clean distclean stop dist deb check-reproducible,$(MAKECMDGOALS)),)
-include config.mk
endif

# ---------------------------------------------------------------------------- compile
ROOMS    := base json db rules http process net store service api jobs ctl client
CPPFLAGS += -Isrc -I/usr/include/jsoncpp -D_GLIBCXX_ASSERTIONS -ffile-prefix-map=$(CURDIR)=.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion \
            -Wno-sign-conversion -Wvla
OPTIMIZE ?= -O2 -g1
# What only tests run is compiled once and run once: the library below it is the product's.
OPTIMIZE_TESTS ?= -O0 -g1
CXXFLAGS += $(CXX_STANDARD) $(OPTIMIZE) $(WARNINGS) $(HARDENING) -fPIE -pthread
LDFLAGS  += -pie -pthread -Wl,-z,relro,-z,now -Wl,--as-needed
ifneq ($(SANITIZE),)
CXXFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS  += -fsanitize=$(SANITIZE)
else
FORTIFY   = -U_FORTIFY_SOURCE $(if $(filter -O0,$(OPTIMIZE)),,-D_FORTIFY_SOURCE=2)
endif
CCACHE   := $(shell command -v ccache 2>/dev/null)
# Not by -Werror: what ccache keeps would be of no use to a build without CI, nor the other way about.
STRICTLY  = $(if $(CI),2>$@.said || { cat $@.said >&2; exit 1; }; cat $@.said >&2; test ! -s $@.said && rm $@.said)
COMPILE   = $(CCACHE) $(CXX) $(CPPFLAGS) $(FORTIFY) $(CXXFLAGS) -MMD -MP -c $< -o $@ $(STRICTLY)
LIBS     := -lfcgi -lmysqlcppconn -ljsoncpp -lsimdjson -lcurl -lcares -lgumbo -lcrypto -lz

LIB_SOURCES  := $(sort $(shell find $(ROOMS:%=src/%) -name '*.cpp'))
LIB_OBJECTS  := $(LIB_SOURCES:%.cpp=$(BUILD)/%.o)
PROGRAMS     := musterd muster-run musterctl muster-import
PROGRAM_BINS := $(PROGRAMS:%=$(BUILD)/%)
FUZZ_TARGETS := $(patsubst tests/fuzz/%.cpp,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.cpp))

.PHONY: all
all: $(PROGRAM_BINS)

# The first object to be compiled on a fresh machine needs config.mk, which make builds and re-reads.
$(BUILD)/%.o: %.cpp | config.mk src/base/config.h
	@mkdir -p $(@D)
	$(COMPILE)

$(BUILD)/libmuster.a: $(LIB_OBJECTS)
	@rm -f $@
	ar rcsD $@ $^

$(BUILD)/musterd: $(BUILD)/src/main/musterd.o
$(BUILD)/muster-run: $(BUILD)/src/main/muster_run.o
$(BUILD)/musterctl: $(BUILD)/src/main/musterctl.o
$(BUILD)/muster-import: $(BUILD)/src/main/muster_import.o
$(PROGRAM_BINS): $(BUILD)/libmuster.a
	$(CXX) $(LDFLAGS) $(filter %.o,$^) $(BUILD)/libmuster.a $(LIBS) -o $@

# ---------------------------------------------------------------------------- tests
UNIT_OBJECTS := $(patsubst %.cpp,$(BUILD)/%.o,$(shell find tests/unit -name '*.cpp'))
DB_OBJECTS   := $(patsubst %.cpp,$(BUILD)/%.o,$(shell find tests/db -name '*.cpp') \
                  tests/unit/client/loopback_server.cpp)
$(BUILD)/tests/%.o: CPPFLAGS += -DBOOST_TEST_DYN_LINK -Itests
$(BUILD)/tests/unit/%.o $(BUILD)/tests/db/%.o $(BUILD)/tests/fuzz/%.o: OPTIMIZE = $(OPTIMIZE_TESTS)

# ---------------------------------------------------------------------------- precompiled headers
# Parsing these headers would take half of the build. `make PRECOMPILED=` finds files that miss an include.
PRECOMPILED ?= algorithm array atomic chrono cstdint fstream functional future map memory mutex optional random set span \
    sstream stdexcept string string_view thread tuple unordered_map utility variant vector json/value.h
ifneq ($(PRECOMPILED),)
PRECOMPILED_IN_src   := $(PRECOMPILED)
PRECOMPILED_IN_tests := print.hpp $(PRECOMPILED)
# GCC forgets which of these headers are the system's, and warns of std::string's own code (GCC bugs 105329, 105651).
SYSTEM_WARNINGS := -Wno-array-bounds -Wno-restrict
# main.cpp configures Boost.Test before it includes it.
USERS_IN_src   := $(LIB_OBJECTS) $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard src/main/*.cpp))
USERS_IN_tests := $(filter-out %/main.o,$(UNIT_OBJECTS) $(DB_OBJECTS))
.SECONDARY: $(BUILD)/src/precompiled.hpp $(BUILD)/tests/precompiled.hpp
$(BUILD)/%/precompiled.hpp: Makefile
	@mkdir -p $(@D)
	@printf '#include <%s>\n' $(PRECOMPILED_IN_$*) >$@
$(BUILD)/tests/precompiled.hpp.gch: tests/print.hpp src/base/text.hpp
$(BUILD)/%/precompiled.hpp.gch: $(BUILD)/%/precompiled.hpp | config.mk src/base/config.h
	$(CCACHE) $(CXX) $(CPPFLAGS) $(FORTIFY) $(CXXFLAGS) -x c++-header -c $< -o $@
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

.PHONY: check check-build lint fuzz bench tidy format
check:
	@packaging/install-deps check
	@$(MAKE) --no-print-directory -j$(JOBS) check-build
	@BUILD=$(BUILD) tests/run-all
check-build: all $(BUILD)/unit-tests $(BUILD)/db-tests $(FUZZ_TARGETS)
lint: all
	@packaging/install-deps check
	@BUILD=$(BUILD) tests/lint/run
fuzz:
	@packaging/install-deps fuzz
	@BUILD=build/fuzzing SECONDS_IN_ALL=$(SECONDS) tests/fuzz/run-fuzzers
bench:
	@packaging/install-deps bench
	@$(MAKE) --no-print-directory -j$(JOBS) all bench-floors
	@BUILD=$(BUILD) tests/bench/run $(if $(ONLY),--only $(ONLY))
format:
	@git ls-files 'src/*.[ch]pp' 'tests/*.[ch]pp' | xargs clang-format -i

# The bare programs that the bench measures its floors with.
BENCH_FLOORS := $(patsubst tests/bench/%.cpp,$(BUILD)/bench/%,$(wildcard tests/bench/floor_*.cpp))
.PHONY: bench-floors
bench-floors: $(BENCH_FLOORS)
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libmuster.a
	@mkdir -p $(@D)
	$(CXX) $(LDFLAGS) $< $(BUILD)/libmuster.a $(LIBS) -o $@

# ---------------------------------------------------------------------------- run
.PHONY: demo sandbox stop
demo:
	@packaging/install-deps run
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@BUILD=$(BUILD) SANDBOX=$(SANDBOX) PORT=$(PORT) tests/sandbox/demo
sandbox:
	@packaging/install-deps run
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@BUILD=$(BUILD) SANDBOX=$(SANDBOX) PORT=$(PORT) RATES=$(RATES) PROVIDERS=$(PROVIDERS) tests/sandbox/start
stop:
	@SANDBOX=$(SANDBOX) tests/sandbox/stop

# ---------------------------------------------------------------------------- install
prefix  ?= /usr
sysconf ?= /etc
.PHONY: install dist clean distclean
install: all
	install -D -m 755 $(BUILD)/musterd $(DESTDIR)$(prefix)/sbin/musterd
	install -D -m 755 $(BUILD)/musterctl $(DESTDIR)$(prefix)/sbin/musterctl
	install -D -m 755 $(BUILD)/muster-run $(DESTDIR)$(prefix)/sbin/muster-run
	install -D -m 755 $(BUILD)/muster-import $(DESTDIR)$(prefix)/bin/muster-import
	install -d $(DESTDIR)$(prefix)/share/muster
	cp -R sql $(DESTDIR)$(prefix)/share/muster/
	install -D -m 644 cron/muster $(DESTDIR)$(sysconf)/cron.d/muster
	install -D -m 644 nginx/muster.conf $(DESTDIR)$(sysconf)/nginx/sites-available/muster.conf
	install -d $(DESTDIR)$(sysconf)/nginx/snippets
	install -m 644 nginx/snippets/*.conf $(DESTDIR)$(sysconf)/nginx/snippets/
	install -D -m 644 nginx/static/js/muster.js $(DESTDIR)$(prefix)/share/muster/js/muster.js
	install -d $(DESTDIR)$(prefix)/share/muster/console
	install -m 644 nginx/static/console/* $(DESTDIR)$(prefix)/share/muster/console/
	install -d $(DESTDIR)$(sysconf)/muster
	# The configuration is the operator's once it is there; the shipped one can always be printed again.
	test -e $(DESTDIR)$(sysconf)/muster/muster.conf || { umask 027 && \
	    $(BUILD)/musterd --print-config > $(DESTDIR)$(sysconf)/muster/muster.conf; }
	for program in musterctl muster-import; do install -D -m 644 packaging/bash-completion/$$program \
	    $(DESTDIR)$(prefix)/share/bash-completion/completions/$$program; done
	install -D -m 644 -t $(DESTDIR)$(prefix)/share/doc/muster README.md CHANGES
	for text in $$(cd docs && find * -name '*.md' ! -path 'developers/*' ! -path 'decisions/*'); do \
	    install -D -m 644 docs/$$text $(DESTDIR)$(prefix)/share/doc/muster/$$text; done
	install -d $(DESTDIR)$(prefix)/share/doc/muster/examples
	install -m 644 docs/examples/* $(DESTDIR)$(prefix)/share/doc/muster/examples/
	for section in 1 5 7 8; do for page in man/*.$$section; do test ! -e $$page || \
	    install -D -m 644 $$page $(DESTDIR)$(prefix)/share/man/man$$section/$${page#man/}; done; done

dist:
	@mkdir -p build
	git archive --prefix=muster-$(shell sed -n 's/^AC_INIT(\[muster\],\[\(.*\)\])/\1/p' configure.ac)/ HEAD \
	    | gzip -n > build/muster.tar.gz

# Of the last commit, not of the tree: what is packaged can be found again.
.PHONY: deb check-deb check-reproducible
deb: dist
	@packaging/install-deps deb
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
	rm -rf configure configure~ config.mk config.log config.status autom4te.cache src/base/config.h

-include $(shell find $(BUILD)/src $(BUILD)/tests -name '*.d' 2>/dev/null)
