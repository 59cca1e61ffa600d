# hrun - build, test, measure, install. Everything built goes to build/.
#
#   make                 libraries, hrun, hrun-calibrate
#   make demo            calibrate, predict and run a real application on this machine
#   make check           every test (SANITIZE=address,undefined builds and tests with sanitizers)
#   make check-names     the tests under other names of CPU and host, and on one core (root; NAMES_TESTS="tests/cli/X.t")
#   make races           calls of hrun_ask by several threads, under ThreadSanitizer
#   make check-lab       the tests over several hosts, on an emulated cluster (root; 10 minutes)
#   make check-engines MPIRUN5=/path/to/mpirun PRTERUN=/path/to/prterun   launches by Open MPI 5 or PRRTE alone (root)
#   make bench           speed figures, as ratios of one run
#   make accuracy        is hrun's choice the best? on simulated clusters (ACCURACY="--app lu": options of the program)
#   make launches COUNT=K        launches with random faults, by Open MPI and MPICH
#   make faults          functions of the system fail, one call at a time (ten minutes; FAULTS_S=seconds)
#   make trials SEED=S TRIALS=K  is hrun's choice the best? on random programs and clusters
#   make regret SEED=S TRIALS=K  how soon does --explore find it, without a calibration?
#   make weak-accuracy   are codes that scale weakly predicted well? as in paper 001 (part of make accuracy)
#   make ring-accuracy   are rings predicted well? the seven PCs of paper 004 (part of make accuracy)
#   make variants-accuracy  is the right algorithm chosen? on two simulated clusters (part of make accuracy)
#   make net-accuracy    are messages predicted well? collective operations on simulated networks
#   make net-parameters  are networks estimated right? on simulated ones of 16 unlike hosts
#   make lab-net-accuracy  predicted against measured collective operations, on an emulated cluster (LAB_NET=...)
#   make lab-accuracy    is hrun's choice the best? on an emulated cluster (LAB_QUICK=1: a part of it;
#                        PROGRAMS=DIR: HPL, NPB, LAMMPS and HPC Challenge, those that are in DIR or installed)
#   make install         PREFIX=/usr/local DESTDIR=
#
# Packages are installed by ./bootstrap, never by make.

PREFIX  ?= /usr/local
DESTDIR ?=
SANITIZE ?=

VERSION := 0.1.0
# Of libhrun.so: raised when something that hrun.h declares goes or changes (lib/hrun.h).
ABI     := 0
# make fuzz FUZZER=libfuzzer: the fuzz targets with clang's libFuzzer and sanitizers, in a folder of their own.
ifdef FUZZER
CC       := clang
SANITIZE := fuzzer-no-link,address,undefined
endif
B       := build$(if $(FUZZER),/fuzz,$(if $(SANITIZE),/san$(if $(filter thread,$(SANITIZE)),-thread)))

CC        ?= cc
CFLAGS    ?= -O2 -g
WARNINGS  := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla $(if $(CI),-Werror)
PKG_CONFIG ?= pkg-config
OBJCOPY   ?= objcopy
MPICC     ?= $(firstword $(shell command -v mpicc.openmpi) mpicc)

PKGS      := pmix hwloc gsl jansson yaml-0.1 zlib
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS))
# libcsv has no file for pkg-config.
PKG_LIBS  := $(shell $(PKG_CONFIG) --libs $(PKGS)) -lcsv -lm

# gcc defines __SANITIZE_ADDRESS__ itself, clang does not.
SANFLAGS  := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all) \
             $(if $(FUZZER),-D__SANITIZE_ADDRESS__)
DEFINES    = -D_GNU_SOURCE -DHRUN_SHARE='"$(PREFIX)/share/hrun/profiles"' -DHRUN_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=c11 -Ilib $(DEFINES) $(PKG_CFLAGS) $(WARNINGS) $(CFLAGS) $(SANFLAGS) -fPIC
ALL_LDFLAGS = $(LDFLAGS) $(SANFLAGS)

# ---------------------------------------------------------------- sources

LIB_SRC := $(sort $(wildcard lib/*/*.c lib/*/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
room = $(patsubst %,lib/$(1)/%.c,$(2))

# What both commands have of hrun/.
SHARED_SRC := hrun/command/command.c hrun/command/output.c
SHIM_SRC   := $(wildcard hrun/shim/*.c) \
              $(call room,base,alloc buf error file list write) $(call room,cluster,sysinfo) \
              $(call room,launch,frames mpich_orphans ranks notes words procs mpi openmpi openmpi_kept program)
HRUN_SRC   := $(filter-out hrun/smpi.c,$(wildcard hrun/*.c hrun/command/*.c hrun/run/*.c hrun/jobs/*.c))
COLL       := tree coll_choice
COLL_SRC   := $(addprefix hrun/preloaded/,$(addsuffix .c,$(COLL)) comm.c move.c operations.c records.c coll_wrap_c.c \
              coll_wrap_fortran.c)
# The network model, of which nothing but the C library is needed.
COLL_LIB   := $(call room,base,alloc buf error) $(call room,net,algo_all algo_reduce algo_root algorithms \
              message_schedule net operation replay selectors tune wire)
TRACE_SRC  := $(addprefix hrun/preloaded/,watch.c watch_report.c watch_wrap_c.c watch_wrap_fortran.c)
PROBE_SRC  := $(addprefix calib/mpi/,hrun_probe.c probe_facts.c probe_messages.c probe_usage.c probe_work.c messages.c)
NET_SRC    := $(addprefix calib/mpi/,measure.c messages.c repeat.c rounds.c groups.c trips.c fans.c sweeps.c)
MPICC_MPICH := $(shell command -v mpicc.mpich)
TRACE_MPICH := $(if $(MPICC_MPICH),$(B)/lib/hrun/libhrun-trace-mpich.so)
CALIB_SRC  := $(filter-out calib/mpi/%,$(wildcard calib/*.c calib/*/*.c)) $(SHARED_SRC)

# Engine smpi is there where SimGrid is.
SMPI_BIN   := $(if $(shell $(PKG_CONFIG) --exists simgrid 2>/dev/null && echo yes),$(B)/bin/hrun-smpi)
SMPICC    ?= $(shell command -v smpicc)
SMPI_TOOL  := $(if $(SMPICC),$(B)/lib/hrun/hrun-netbench-smpi)

# make V=1 shows whole command lines.
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-4s %s\n' $(1) $@)

.DELETE_ON_ERROR:
.PRECIOUS: $(B)/%.o
.PHONY: all lib
all: lib $(B)/bin/hrun $(B)/bin/hrun-calibrate $(B)/bin/hrun-shim $(SMPI_BIN) $(B)/lib/hrun/libhrun-trace.so \
     $(B)/lib/hrun/libhrun-coll.so $(B)/lib/hrun/libhrun-mpich.so $(TRACE_MPICH) $(B)/lib/hrun/hrun-probe $(B)/lib/hrun/hrun-netbench \
     $(SMPI_TOOL)

lib: $(B)/lib/libhrun.a $(B)/lib/libhrun.so $(B)/lib/libhrun-mpi.a $(B)/lib/libhrun-mpi.so

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/lib/libhrun.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/lib/libhrun.so: $(LIB_OBJ) $(B)/lib/hrun.map
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libhrun.so.$(ABI) -Wl,--version-script=$(B)/lib/hrun.map -o $@ \
	  $(LIB_OBJ) $(PKG_LIBS)
	$(Q)ln -sf libhrun.so $@.$(ABI)

# For others: one object, whose inner names are its own.
$(B)/lib/static/libhrun.a: $(LIB_OBJ) $(B)/lib/hrun.names
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)$(LD) -r -o $(@D)/hrun.o $(LIB_OBJ) && $(OBJCOPY) --keep-global-symbols=$(B)/lib/hrun.names $(@D)/hrun.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(@D)/hrun.o && rm $(@D)/hrun.o

# The choices of libhrun-coll.so, for hrun to tell of them.
$(B)/bin/hrun: $(HRUN_SRC:%.c=$(B)/%.o) $(COLL:%=$(B)/hrun/preloaded/%.o) $(B)/lib/libhrun.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/bin/hrun-calibrate: $(CALIB_SRC:%.c=$(B)/%.o) $(B)/lib/libhrun.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# The C library alone: it is started in front of every rank.
$(B)/bin/hrun-shim: $(SHIM_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# SimGrid switches stacks: no sanitizers.
$(B)/bin/hrun-smpi: hrun/smpi.c
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) $(LDFLAGS) -o $@ $< \
	  $(shell $(PKG_CONFIG) --cflags --libs simgrid 2>/dev/null)

# What is preloaded into the ranks of users: never built with our sanitizers, not linked with MPI. By lib/net, of which
# libhrun-coll.so has a copy with hidden names, ranks compute the same, whatever they run on, as hrun does.
$(B)/lib/net/%.o: ALL_CFLAGS += -ffp-contract=off
PRELOADED_CFLAGS = -std=c11 -Ilib -D_GNU_SOURCE $(WARNINGS) -O2 -g -ffp-contract=off -fPIC -fvisibility=hidden -MMD -MP
$(B)/hrun/preloaded/%.o: hrun/preloaded/%.c
	@mkdir -p $(@D)
	$(call say,MPI)
	$(Q)$(MPICC) $(PRELOADED_CFLAGS) -c -o $@ $<

$(B)/preloaded/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(PRELOADED_CFLAGS) -c -o $@ $<

$(B)/lib/hrun/libhrun-coll.so: $(COLL_SRC:%.c=$(B)/%.o) $(COLL_LIB:%.c=$(B)/preloaded/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libhrun-coll.so -o $@ $^ -ldl -lm

$(B)/lib/hrun/libhrun-trace.so: $(TRACE_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libhrun-trace.so -o $@ $^ -ldl -lpthread

$(B)/lib/hrun/libhrun-mpich.so: $(B)/preloaded/hrun/preloaded/mpich.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libhrun-mpich.so -o $@ $^ -ldl

# The watch for MPICH, where it is there. Its Fortran functions call those of C.
$(B)/mpich/hrun/preloaded/%.o: hrun/preloaded/%.c
	@mkdir -p $(@D)
	$(call say,MPI)
	$(Q)$(MPICC_MPICH) $(PRELOADED_CFLAGS) -c -o $@ $<

$(B)/lib/hrun/libhrun-trace-mpich.so: $(patsubst %.c,$(B)/mpich/%.o,$(filter-out %fortran.c,$(TRACE_SRC)))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libhrun-trace-mpich.so -o $@ $^ -ldl -lpthread

# What doctor starts on every PE, and hrun-calibrate network on every host: MPI and the C library alone.
$(B)/calib/mpi/%.o: calib/mpi/%.c
	@mkdir -p $(@D)
	$(call say,MPI)
	$(Q)$(MPICC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(B)/lib/hrun/hrun-probe: $(PROBE_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,MPI)
	$(Q)$(MPICC) $(LDFLAGS) -o $@ $^

# The network benchmark is a library for applications, too, and is built for SimGrid.
# One object, whose inner names are its own.
$(B)/lib/libhrun-mpi.a: $(NET_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)$(LD) -r -o $(@D)/hrun-mpi.o $^ && $(OBJCOPY) --localize-hidden $(@D)/hrun-mpi.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(@D)/hrun-mpi.o && rm $(@D)/hrun-mpi.o

$(B)/lib/libhrun-mpi.so: $(NET_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(MPICC) $(LDFLAGS) -shared -Wl,-soname,libhrun-mpi.so.0 -o $@ $^ -lm

$(B)/lib/hrun/hrun-netbench: $(B)/calib/mpi/netbench.o $(NET_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(MPICC) $(LDFLAGS) -o $@ $^ -lm

$(B)/lib/hrun/hrun-netbench-smpi: calib/mpi/netbench.c $(NET_SRC) $(wildcard calib/mpi/*.h)
	@mkdir -p $(@D)
	$(call say,SMPI)
	$(Q)$(SMPICC) -std=c11 -D_GNU_SOURCE -DHRUN_SMPI $(WARNINGS) -O2 -g -o $@ $(filter %.c,$^) -lm

# ---------------------------------------------------------------- what is installed
MANPAGES := man/hrun.1 man/hrun-calibrate.1 man/hrun-calibrate-doctor.1 man/hrun-calibrate-network.1 man/hrun-app.5 man/hrun-cluster.5 man/hrun-profile.5 man/hrun.7 \
            man/hrun-model.7 man/hrun-launch.7 man/hrun-mpirun.7 man/hrun-plan.1 man/libhrun.3
PROFILES := $(sort $(wildcard share/profiles/*.yaml))

# The names that hrun.h declares are all that the libraries show.
$(B)/lib/hrun.names: lib/hrun.h
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -x c $< | grep -oE '\<hrun_[a-z0-9_]+ *[[(;]' | grep -oE '[a-z0-9_]+' | sort -u > $@
$(B)/lib/hrun.map: $(B)/lib/hrun.names
	$(Q){ echo 'HRUN_$(ABI) { global:'; sed 's/$$/;/' $<; echo 'local: *; };'; } > $@

# Made anew each time: PREFIX may differ from the last.
.PHONY: FORCE
$(B)/hrun.pc: FORCE
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: hrun' \
	  'Description: launcher for MPI programs on heterogeneous clusters' 'Version: $(VERSION)' \
	  'Requires.private: $(PKGS)' 'Libs: -L$${libdir} -lhrun' 'Libs.private: -lcsv -lm' 'Cflags: -I$${includedir}' > $@

# The MPI that it is built with is the application's own: only its compiler knows where that is.
$(B)/hrun-mpi.pc: FORCE
	@mkdir -p $(@D)
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: hrun-mpi' \
	  'Description: measures the network below an MPI communicator' 'Version: $(VERSION)' \
	  'Libs: -L$${libdir} -lhrun-mpi' 'Libs.private: -lm' 'Cflags: -I$${includedir}' > $@

$(B)/include/%.h: lib/%.h
	@mkdir -p $(@D)
	cp $< $@

$(B)/include/hrun-mpi.h: calib/mpi/hrun-mpi.h
	@mkdir -p $(@D)
	cp $< $@

$(B)/completions/%: $(B)/bin/%
	@mkdir -p $(@D)
	$< --completion > $@

.PHONY: install
install: all $(B)/lib/static/libhrun.a $(B)/include/hrun.h $(B)/include/hrun-mpi.h $(B)/hrun.pc $(B)/hrun-mpi.pc \
         $(B)/completions/hrun $(B)/completions/hrun-calibrate
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include \
	  $(DESTDIR)$(PREFIX)/share/hrun/profiles $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man3 \
	  $(DESTDIR)$(PREFIX)/share/man/man5 \
	  $(DESTDIR)$(PREFIX)/share/man/man7 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(B)/bin/hrun $(B)/bin/hrun-calibrate $(B)/bin/hrun-shim $(SMPI_BIN) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(B)/lib/static/libhrun.a $(B)/lib/libhrun-mpi.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(B)/lib/libhrun.so $(DESTDIR)$(PREFIX)/lib/libhrun.so.$(ABI)
	ln -sf libhrun.so.$(ABI) $(DESTDIR)$(PREFIX)/lib/libhrun.so
	install -m 755 $(B)/lib/libhrun-mpi.so $(DESTDIR)$(PREFIX)/lib/libhrun-mpi.so.0
	ln -sf libhrun-mpi.so.0 $(DESTDIR)$(PREFIX)/lib/libhrun-mpi.so
	install -d $(DESTDIR)$(PREFIX)/lib/hrun
	install -m 755 $(B)/lib/hrun/libhrun-coll.so $(B)/lib/hrun/libhrun-trace.so $(B)/lib/hrun/libhrun-mpich.so \
	  $(TRACE_MPICH) $(B)/lib/hrun/hrun-probe $(B)/lib/hrun/hrun-netbench $(SMPI_TOOL) $(DESTDIR)$(PREFIX)/lib/hrun
	install -m 644 $(B)/hrun.pc $(B)/hrun-mpi.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 $(B)/include/hrun.h $(B)/include/hrun-mpi.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $(PROFILES) $(DESTDIR)$(PREFIX)/share/hrun/profiles
	install -m 644 share/report.html share/report.gnuplot $(DESTDIR)$(PREFIX)/share/hrun
	install -m 644 $(filter %.1,$(MANPAGES)) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(filter %.5,$(MANPAGES)) $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(filter %.3,$(MANPAGES)) $(DESTDIR)$(PREFIX)/share/man/man3
	install -m 644 $(filter %.7,$(MANPAGES)) $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 $(B)/completions/hrun $(B)/completions/hrun-calibrate \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions

# ---------------------------------------------------------------- tests
UNIT_TESTS := $(patsubst tests/unit/%.c,%,$(sort $(wildcard tests/unit/test_*.c)))
UNIT_BIN   := $(UNIT_TESTS:%=$(B)/tests/unit/%)
CLI_TESTS  := $(sort $(wildcard tests/cli/*.t))
APPS       := collbench collcheck colltimes lu jacobi femcg fft hybrid matmul multigrid ring probe pattern dynamic services
APP_BIN    := $(APPS:%=$(B)/tests/apps/%)
BENCH_BIN  := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(sort $(wildcard tests/bench/*.c)))
FUZZ_BIN   := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

CALIB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out calib/main.c,$(CALIB_SRC)))
$(B)/tests/unit/test_calib_%: $(B)/tests/unit/test_calib_%.o $(CALIB_OBJ) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
# The main of a command, for tests that call it.
$(B)/tests/unit/main_%.o: $(B)/%/main.o
	$(Q)$(OBJCOPY) --redefine-sym main=command_main $< $@
$(B)/tests/unit/test_calib_options: $(B)/tests/unit/main_calib.o
$(B)/tests/unit/test_hrun_options: $(B)/tests/unit/test_hrun_options.o $(B)/tests/unit/main_hrun.o \
                                   $(filter-out $(B)/hrun/main.o,$(HRUN_SRC:%.c=$(B)/%.o)) \
                                   $(COLL:%=$(B)/hrun/preloaded/%.o) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/unit/test_schedule: $(B)/tests/unit/test_schedule.o \
                               $(B)/hrun/jobs/jobs_schedule.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/unit/test_netbench: $(B)/tests/unit/test_netbench.o \
                               $(addprefix $(B)/calib/mpi/,rounds.o groups.o repeat.o messages.o)
	$(call say,LD)
	$(Q)$(MPICC) $(ALL_LDFLAGS) -o $@ $^ -lm
$(B)/tests/unit/test_netbench.o: ALL_CFLAGS += $(shell $(MPICC) --showme:compile 2>/dev/null)
$(B)/tests/unit/test_coll: $(B)/tests/unit/test_coll.o $(COLL:%=$(B)/hrun/preloaded/%.o) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/unit/test_truth: $(B)/tests/unit/test_truth.o $(B)/tests/accuracy/truth.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/unit/test_why: $(B)/tests/unit/test_why.o $(addprefix $(B)/tests/accuracy/,why.o truth.o) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/bench/%: $(B)/tests/bench/%.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/fuzz/fuzz_jobs: $(B)/hrun/jobs/jobs_read.o
$(B)/tests/fuzz/fuzz_doctor: $(addprefix $(B)/calib/doctor/,doctor_read.o judge.o judge_compute.o judge_network.o \
                             judge_settings.o)
# What runs a fuzz target: libFuzzer, started from the target's seeds, or the driver.
FUZZ_MAIN  := $(B)/tests/fuzz/$(if $(FUZZER),seeds.o,driver.o)
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_MAIN) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(FUZZER),-fsanitize=fuzzer) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS)
$(B)/tests/%.o: ALL_CFLAGS += -Itests

# The test applications are programs of users: never built with our sanitizers.
$(B)/tests/apps/%: tests/apps/%.c $(wildcard tests/apps/*.h)
	@mkdir -p $(@D)
	$(call say,MPI)
	$(Q)$(MPICC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g $(if $(filter hybrid,$*),-fopenmp) -o $@ $< \
	  $(if $(filter lu matmul,$*),-lopenblas) $(if $(filter services,$*),$(shell $(PKG_CONFIG) --cflags --libs pmix)) -lm

# The same for MPICH, where it is there.
MPICH_APPS := $(if $(MPICC_MPICH),$(addprefix $(B)/tests/apps/mpich/,probe lu jacobi pattern))
$(B)/tests/apps/mpich/%: tests/apps/%.c $(wildcard tests/apps/*.h)
	@mkdir -p $(@D)
	$(call say,MPI)
	$(Q)$(MPICC_MPICH) -std=c11 -D_GNU_SOURCE $(WARNINGS) -Wno-stringop-overflow -O2 -g -rdynamic -o $@ $< $(if $(filter lu matmul,$*),-lopenblas) -lm

# The same, built for SimGrid.
SMPI_APPS := $(if $(SMPICC),$(addprefix $(B)/tests/smpi/,lu jacobi flops probe fft matmul multigrid ring))
$(B)/tests/smpi/%: tests/apps/%.c $(wildcard tests/apps/*.h)
	@mkdir -p $(@D)
	$(call say,SMPI)
	$(Q)$(SMPICC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -O2 -g -o $@ $< $(if $(filter lu matmul,$*),-lopenblas) -lm

# Skeletons for SimGrid (tests/apps/play.h), whose messages are real and whose arithmetic is counted.
SKELETONS  := $(addprefix $(B)/tests/accuracy/,lu jacobi femcg fft matmul mg multigrid ring)
SKELETON    = $(or $(SMPICC),$(error smpicc is missing: install libsimgrid-dev)) -std=c11 -D_GNU_SOURCE -DHRUN_SMPI \
              $(WARNINGS) -O2 -o $@ $< $(if $(filter lu matmul,$*),-lopenblas) -lm
$(SKELETONS): $(wildcard tests/apps/*.h)
$(B)/tests/accuracy/%: tests/apps/%.c
	@mkdir -p $(@D)
	$(call say,SMPI)
	$(Q)$(SKELETON)
$(addprefix $(B)/tests/accuracy/,mg collectives): $(B)/tests/accuracy/%: tests/accuracy/%.c
	@mkdir -p $(@D)
	$(call say,SMPI)
	$(Q)$(SKELETON)

# Root may run Open MPI in the tests; HRUN_BUILD tells them what to test. Signals that a shell or nohup left ignored
# would stay so in what the tests start and signal.
TEST_ENV = env --default-signal HRUN_BUILD=$(B) HRUN_SANITIZE=$(SANITIZE) HRUN_TEST_DATA=tests/data \
           HRUN_TEST_APPS=$(B)/tests/apps OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HRUN_LEDGER=none \
           ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0

.PHONY: apps unit check valgrind races bench demo fuzz clean
apps: $(APP_BIN) $(MPICH_APPS) $(B)/tests/apps/jump.so $(SMPI_APPS) $(if $(SMPICC),$(SKELETONS) $(addprefix $(B)/tests/trials/,skeleton rivals learner))
unit: $(UNIT_BIN)

# Each test has a folder, data and hosts of its own, and none is lost by what runs beside it; many of them wait.
TEST_JOBS ?= $(shell expr $$(nproc) + 1)
check: all apps unit $(FUZZ_BIN) $(addprefix $(B)/tests/accuracy/,accuracy rings variants_accuracy) \
       $(B)/include/hrun.h $(B)/include/hrun-mpi.h
	$(TEST_ENV) prove -j$(TEST_JOBS) --timer -e '' $(CLI_TESTS) $(UNIT_BIN)

# No test depends on the names of CPU and host or on the number of cores; tests/described K N: of K characters, N cores.
NAMES_TESTS ?= $(CLI_TESTS) $(UNIT_BIN)
.PHONY: check-names
check-names: all apps unit
	for as in "3 2" "24 $$(nproc)" "60 1"; do \
	  $(TEST_ENV) tests/described $$as prove -j$(TEST_JOBS) -e '' $(NAMES_TESTS) || exit 1; done

# Tests over several hosts: one after the other, for each brings up a cluster of its own. `check` runs the short
# tests/cli/lab.t.
LAB_TESTS := $(sort $(wildcard tests/lab/*.t))
# 10,000 launches with random faults, by Open MPI and MPICH.
COUNT ?= 10000
.PHONY: launches
launches: all apps
	$(foreach p,probe $(if $(MPICH_APPS),mpich/probe),tests/launches/launches $(B)/bin/hrun $(abspath $(B))/tests/apps/$(p) \
	  --count $(COUNT) --seed $(or $(SEED),1) &&) true

.PHONY: faults
$(B)/tests/faults/inject.so: tests/faults/inject.c
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra -shared -fPIC $< -o $@
faults: all $(B)/tests/faults/inject.so
	$(TEST_ENV) tests/faults/faults

.PHONY: check-lab
check-lab: all apps $(B)/tests/lab/idle.so
	$(TEST_ENV) prove --timer -e '' tests/cli/lab.t $(LAB_TESTS)

# Launches, here and over hosts, by an mpirun that Debian 12 does not have: that of Open MPI 5, whose mpicc beside it
# builds what is linked with MPI, and PRRTE's prterun behind a script. HRUN_TEST_MPIRUN: the folder that is put first.
ENGINE_TESTS ?= tests/cli/launch.t tests/cli/mpmd.t tests/lab/mpirun.t tests/lab/faults.t
.PHONY: check-engines engine-tests
check-engines:
	$(if $(MPIRUN5)$(PRTERUN),,$(error say which: make check-engines MPIRUN5=/path/to/mpirun, PRTERUN=/path/to/prterun))
	$(if $(MPIRUN5),$(MAKE) engine-tests B=build/ompi5 MPICC=$(dir $(MPIRUN5))mpicc HRUN_TEST_MPIRUN=$(dir $(MPIRUN5)))
	$(if $(PRTERUN),mkdir -p build/prterun && sed 's|@PRTERUN@|$(PRTERUN)|' tests/lab/prterun >build/prterun/mpirun)
	$(if $(PRTERUN),chmod 755 build/prterun/mpirun)
	$(if $(PRTERUN),$(MAKE) engine-tests HRUN_TEST_MPIRUN=$(abspath build/prterun))
engine-tests: all apps
	HRUN_TEST_MPIRUN=$(HRUN_TEST_MPIRUN) $(TEST_ENV) prove --timer -e '' $(ENGINE_TESTS)

# Unit tests under valgrind; tests that start MPI programs are left to `check`.
valgrind: unit
	$(TEST_ENV) prove --timer -e 'valgrind -q --error-exitcode=99 --leak-check=full' \
	  $(filter-out $(B)/tests/unit/test_launch%,$(UNIT_BIN))

# Do calls of hrun_ask race? The libraries below are not instrumented: what they share is not seen.
races:
	$(MAKE) SANITIZE=thread build/san-thread/tests/unit/test_ask
	$(TEST_ENV) build/san-thread/tests/unit/test_ask

# Each fuzz target over FUZZ_RUNS deterministic mutations; or (FUZZER=libfuzzer) by libFuzzer for FUZZ_SECONDS, which
# keeps the inputs that reach new code in build/fuzz/corpus, and one that fails in build/fuzz.
FUZZ_RUNS    ?= 20000
FUZZ_SECONDS ?= 60
FUZZ_OPTIONS  = $(if $(FUZZER),-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
                  -verbosity=0 -print_final_stats=1 -artifact_prefix=$(B)/ $(B)/corpus/$$t,-n $(FUZZ_RUNS))
fuzz: $(FUZZ_BIN)
	$(Q)for t in $(notdir $(FUZZ_BIN)); do \
	  echo $$t; mkdir -p $(B)/corpus/$$t; $(TEST_ENV) $(B)/tests/fuzz/$$t $(FUZZ_OPTIONS) || exit 1; done

bench: all apps $(BENCH_BIN) $(B)/tests/lab/idle.so
	$(TEST_ENV) tests/bench/run

# How good are the choices? Ground truth played under SMPI (what was played is kept), methods tried on it.
ACCURACY_OBJ := $(addprefix $(B)/tests/accuracy/,accuracy.o methods.o automatic.o extrap.o extrap_fit.o designed.o \
                network.o trials.o why.o show.o truth.o)
$(B)/tests/accuracy/accuracy: $(ACCURACY_OBJ) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
.PHONY: accuracy truth
truth: $(SKELETONS) $(SMPI_TOOL)
	HRUN_BUILD=$(B) tests/accuracy/tables
accuracy: truth ring-accuracy $(B)/tests/accuracy/accuracy
	$(B)/tests/accuracy/accuracy --tables $(B)/accuracy/tables --networks $(B)/accuracy/networks $(ACCURACY)

# Are codes that scale weakly foretold? 64 and 32 processes of two simulated clusters (paper 001; WEAK_ACCURACY: options
# of tests/accuracy/weak).
.PHONY: weak-accuracy
accuracy: weak-accuracy
weak-accuracy: all $(B)/tests/accuracy/multigrid
	HRUN_BUILD=$(B) tests/accuracy/weak $(WEAK_ACCURACY)

# Rings of virtual processes (paper 004): played on its seven PCs, and its own tables (RING_ACCURACY: options of
# tests/accuracy/rings).
.PHONY: ring-accuracy
ring-accuracy: $(B)/tests/accuracy/ring $(B)/tests/accuracy/rings
	HRUN_BUILD=$(B) tests/accuracy/rings $(RING_ACCURACY)
$(B)/tests/accuracy/rings: $(addprefix $(B)/tests/accuracy/,rings.o truth.o) $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# Is the right algorithm chosen? matmul by its three methods on two simulated clusters (paper 003, section 5).
.PHONY: variants-accuracy
accuracy: variants-accuracy
variants-accuracy: all $(B)/tests/accuracy/matmul $(B)/tests/accuracy/variants_accuracy
	HRUN_BUILD=$(B) tests/accuracy/variants $(VARIANTS_ACCURACY)
$(B)/tests/accuracy/variants_accuracy: $(B)/tests/accuracy/variants_accuracy.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# Is hrun right where nobody looked before? Random programs on random clusters (tests/trials/README.md).
SEED ?= 1
TRIALS ?= 10
$(B)/tests/trials/skeleton: tests/trials/skeleton.c
	@mkdir -p $(@D)
	$(call say,SMPI)
	$(Q)$(SKELETON)
$(B)/tests/trials/rivals: $(B)/tests/trials/rivals.o $(B)/tests/accuracy/extrap_fit.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/trials/learner: $(B)/tests/trials/learner.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
.PHONY: trials trials-weights regret
regret: all $(B)/tests/trials/skeleton $(B)/tests/trials/learner
	HRUN_BUILD=$(B) tests/trials/regret --seed $(SEED) --trials $(TRIALS) $(TRIALS_OPTIONS)
trials: all $(addprefix $(B)/tests/trials/,skeleton rivals)
	HRUN_BUILD=$(B) tests/trials/trials --seed $(SEED) --trials $(TRIALS) $(TRIALS_OPTIONS)
trials-weights: all $(B)/tests/trials/skeleton
	HRUN_BUILD=$(B) tests/trials/weights --seed $(SEED) --trials $(TRIALS) $(TRIALS_OPTIONS)

# Are choices and predictions of 20 seeds, and the quick tables of tests/accuracy, as tests/trials/FROZEN records them?
# NET_OPTIONS: of tests/trials/net.
.PHONY: net
net: all $(addprefix $(B)/tests/trials/,skeleton rivals) $(SMPI_TOOL) \
     $(addprefix $(B)/tests/accuracy/,collectives net_accuracy netbench-processing net_parameters matmul fft) \
     $(addprefix $(B)/tests/accuracy/,variants_accuracy accuracy)
	HRUN_BUILD=$(B) tests/accuracy/tables --only fft
	HRUN_BUILD=$(B) tests/trials/net $(NET_OPTIONS)

# How well are operations predicted? Played under SMPI on 16 unlike hosts (NET_ACCURACY: options of tests/accuracy/net),
# by the network as it is, and as hrun-calibrate estimates it.
$(B)/tests/accuracy/net_accuracy: $(B)/tests/accuracy/net_accuracy.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
.PHONY: net-accuracy
net-accuracy: all $(B)/tests/accuracy/collectives $(B)/tests/accuracy/net_accuracy
	HRUN_BUILD=$(B) tests/accuracy/net $(NET_ACCURACY); status=$$?; \
	HRUN_BUILD=$(B) tests/accuracy/net --estimated $(NET_ACCURACY) && exit $$status

# Are networks estimated right? The benchmark under SMPI on 16 unlike hosts (NET_PARAMETERS: options of
# tests/accuracy/parameters).
$(B)/tests/accuracy/net_parameters: $(B)/tests/accuracy/net_parameters.o $(B)/lib/libhrun.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)
$(B)/tests/accuracy/netbench-processing: calib/mpi/netbench.c $(NET_SRC) tests/accuracy/processing.c \
                                            tests/accuracy/processing.h $(wildcard calib/mpi/*.h)
	@mkdir -p $(@D)
	$(call say,SMPI)
	$(Q)$(SMPICC) -std=c11 -D_GNU_SOURCE -DHRUN_SMPI $(WARNINGS) -O2 -g -include tests/accuracy/processing.h -o $@ \
	  $(filter %.c,$^) -lm
.PHONY: net-parameters
net-parameters: $(SMPI_TOOL) $(B)/tests/accuracy/netbench-processing $(B)/tests/accuracy/net_parameters
	HRUN_BUILD=$(B) tests/accuracy/parameters $(NET_PARAMETERS)

$(B)/tests/lab/idle.so: tests/lab/idle.c
$(B)/tests/apps/jump.so: tests/apps/jump.c
$(B)/tests/lab/idle.so $(B)/tests/apps/jump.so:
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) -fPIC -shared -o $@ $<

# Is the choice the best one? All configurations of a small emulated cluster; LAB_QUICK=1 tries it at fewer sizes.
.PHONY: lab-accuracy
lab-accuracy: all apps $(B)/tests/lab/idle.so
	$(TEST_ENV) tests/lab/accuracy $(if $(LAB_QUICK),--quick) $(if $(PROGRAMS),--programs $(PROGRAMS))

# Predicted against measured collective operations of Open MPI on unlike links, and how much these vary.
.PHONY: lab-net-accuracy
lab-net-accuracy: all apps $(B)/tests/lab/idle.so $(B)/tests/accuracy/net_accuracy
	$(TEST_ENV) tests/lab/net $(LAB_NET)

demo: all $(B)/tests/apps/lu
	HRUN_BUILD=$(B) tests/demo

clean:
	rm -rf build

-include $(shell test -d $(B) && find $(B) -name '*.d')
