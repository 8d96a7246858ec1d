# `make help` lists the targets. Each recipe keeps all cores busy by itself, and SwiftPM locks its build folder, so the
# targets run one after another, with -j too.

PREFIX ?= /usr/local
DESTDIR ?=
ifneq ($(filter-out /%,$(PREFIX)),)
$(error PREFIX has to be an absolute path without spaces, as the unit names the daemon by it: $(PREFIX))
endif

bindir := $(PREFIX)/bin
interfacedir := $(PREFIX)/share/varlink
mandir := $(PREFIX)/share/man
bashdir := $(PREFIX)/share/bash-completion/completions
zshdir := $(PREFIX)/share/zsh/site-functions
fishdir := $(PREFIX)/share/fish/vendor_completions.d
# A user manager reads units below a home directory only from its share folder, and the system's units from lib. The
# system's manager reads no units below a home directory.
home := $(patsubst %/,%,$(HOME))
in_home := $(if $(home),$(filter $(home)/%,$(PREFIX)))
unitdir := $(PREFIX)/$(if $(in_home),share,lib)/systemd/user
systemunitdir := $(if $(in_home),,$(PREFIX)/lib/systemd/system)
applicationsdir := $(PREFIX)/share/applications
iconsdir := $(PREFIX)/share/icons/hicolor
metainfodir := $(PREFIX)/share/metainfo
libexecdir := $(PREFIX)/libexec/countdownd
# Desktops read autostart entries from /etc/xdg and from the home directory only; any other PREFIX is a trial.
autostartdir := $(if $(in_home),$(home)/.config,$(if $(filter /usr /usr/local,$(PREFIX)),,$(PREFIX))/etc/xdg)/autostart
metainfo := io.countdownd.countdownctl.metainfo.xml
menu_entry := io.countdownd.countdownctl.desktop
localedir := $(PREFIX)/share/locale
programs := countdownctl countdownd countdown-notify
# The file of a translation in a folder of languages.
translations := $(patsubst packaging/po/%.po,%/LC_MESSAGES/countdownd.mo,$(wildcard packaging/po/*.po))
# The user services with a second sandbox layer, and the name of its drop-in.
sandboxed := countdownd countdown-notify
sandbox := .service.d/50-sandbox.conf

# If 1, missing packages are named and not installed.
export NO_DEPS ?=
# The folder of the executables to install. They are built only if this is bin.
BUILT ?= bin
# The package of the bridge to Redis, which depends on this one.
bridge := FleetBridge
# The program that removes the symbols of installed executables. If empty, they stay, for distributors that split them off.
STRIP ?= strip
# If empty, countdownctl is linked to the C library of the system, like the other programs.
STATIC ?= 1
# The same sources make the same bytes in every folder: docs/decisions/0014. No executable searches its own folder for
# libraries.
build_release := swift build -c release --disable-local-rpath -Xlinker --build-id=sha1 \
  -Xswiftc -file-prefix-map -Xswiftc '$(CURDIR)=.' -Xcc '-ffile-prefix-map=$(CURDIR)=.' \
  -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
# Dynamic executables bind every function before their first instruction.
dynamic := --static-swift-stdlib -Xlinker -z -Xlinker now
# Package.swift names the exact version of each dependency.
export COUNTDOWND_EXACT := 1
# If this is error, Package.swift turns warnings in our own targets into errors.
export COUNTDOWND_WARNINGS ?= $(if $(CI),error)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run check test test-fleet acceptance bench count build build-fleet install install-files install-fleet install-fleet-files uninstall deb release lint clean

sources := Package.swift $(shell find Sources -type f -not -path '*.docc/*')
swift_files := Package.swift Sources Tests \
  $(addprefix $(bridge)/,Package.swift Sources) $(addprefix examples/swift/,Package.swift Sources)
shell_files := $(shell grep -d skip -lE '^#!.*[/ ](ba)?sh$$' .ci/run examples/* examples/shell/* scripts/* debian/* packaging/*/* Tests/System/Clock/* Tests/System/Manager/Machine/* Tests/Programs/Started/Examples/Undo/*) $(wildcard Tests/System/Clock/*.sh) Sources/countdownctl/Arguments/completion.bash

help: ## list the targets
	@echo 'usage: make TARGET [PREFIX=/usr/local] [DESTDIR=] [NO_DEPS=1]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

run: ## build, and show a countdown that outlives its client; installs missing packages
	scripts/install-dependencies run
	scripts/demo

# Of make test-fleet, the suites with Sentinel, and those of the bridge alone with the engine's faults. They and the other
# suites with Redis take as long as each other, and mostly wait.
failovers := RedisTrials\.(Failover|Sentinel)
engine := RedisTrials\.(?!Sentinel)(EngineFault|\w+Tests)

short := $(if $(filter 1,$(SHORT)),--short)

# Trials that are run beside those of the daemon. They, the halves of the other trials of programs, and the rest take as long as each
# other, and mostly wait.
examples := ProgramTrials\.(Bar|Document|Examples|Manual|MenuEntry|OtherClient|Quickshell|ToolExamples)Tests

check: ## build, and run the tests that start no daemon: seconds once built
	scripts/install-dependencies build
	swift build --build-tests
	scripts/test-swift '^FleetTests\.' '^DaemonTests\.' '^(?!(Daemon|Fleet)Tests)\w+Tests\.'

test: ## build, and run every test in Swift; installs missing packages
	scripts/install-dependencies test
	@$(MAKE) check
	scripts/test-swift '^(DaemonTrials\.|$(examples))' '^(?!$(examples))ProgramTrials\.[A-C]' '^(?!$(examples))ProgramTrials\.[D-Z]' \
	  '^ManagerTrials\.' '^(Fault|Fleet|Model|Notify)Trials\.'

# The daemons are the ones that were built along with the tests; the folder has the bridge alone.
test-fleet: ## test the bridge to Redis, and fleets; the tests start redis-server (COUNTDOWND_KILLS=12)
	scripts/install-dependencies fleet
	@$(MAKE) build-fleet
	swift build --build-tests
	COUNTDOWND_EXECUTABLES='$(abspath $(bridge)/.build/release)' scripts/beside "scripts/test-swift '^$(failovers)' '^$(engine)' \
	  '^RedisTrials\.(?!Failover|EngineFault)\w+Trials' '^ManagerTrials.FleetUnitTests/'" 'scripts/fleet-demo > /dev/null'

# Whatever needs more than a debug build: other compilers' flags, other people's programs, another kernel, or time. What has to wait
# runs beside the builds of the sanitizers and each other.
acceptance: ## what make test leaves out, about an hour; SHORT=1 is the short form, as in .ci/run
	scripts/install-dependencies test
	scripts/install-dependencies check-deb
	scripts/test-python
	@$(MAKE) build
	@$(MAKE) count
	@$(MAKE) build-fleet
	scripts/check-install
	@$(MAKE) deb
	scripts/binaries
	scripts/check-binaries $(short)
	scripts/docs
	swift build --build-tests
	scripts/test-examples
	scripts/install-dependencies undo
	scripts/beside $(if $(short),'scripts/sanitize --short') \
	  'if scripts/clocktest --applicable; then scripts/clocktest; fi; scripts/test-clients; scripts/store-trial --runs 20' \
	  'scripts/test-engines; scripts/undo-trial --runs 160; scripts/undo-trial --manager --runs 40 --programs $(BUILT)' \
	  'scripts/check-deb $(short); scripts/test-web; scripts/test-sandboxes'
ifeq ($(short),)
	scripts/test-swift 'CertificationTests|ExamplesTests|HostileStartTests|OtherClientTests'
	scripts/dist
	scripts/check-recipes
	COUNTDOWND_MODEL_CALLS=$${COUNTDOWND_MODEL_CALLS:-40000} scripts/test-swift '^ModelTrials\.'
	scripts/crash
	scripts/fuzz 5
	scripts/soak
	scripts/sanitize
else
	scripts/check-recipes --short
endif

bench: ## the released daemon beside Redis, for docs/performance.md; half an hour (BENCH=--quick is a trial)
	scripts/install-dependencies bench
	@$(MAKE) build
	@$(MAKE) build-fleet
	swift build -c release --package-path Tests/Bench
	scripts/bench page --programs $(BUILT) $(BENCH)

count: build ## count the instructions of calls, ends and more; fails if one is 2 % above its budget
	scripts/install-dependencies count
	scripts/bench count --check

build: $(programs:%=$(BUILT)/%) $(BUILT)/share ## release executables in bin/, manuals, completions, translations

# Only the link of this one differs, so all programs share their modules.
bin/countdownctl: export COUNTDOWND_STATIC := $(STATIC)

$(programs:%=bin/%): bin/%: $(sources)
	@scripts/install-dependencies --check build
	$(build_release) $(dynamic) --product $*
	@install -D -m 755 .build/release/$* $@

build-fleet: $(BUILT)/countdownd-redis ## the release executable of the bridge to Redis, in bin/

# Without the variable, because SwiftPM builds this package as a dependency there.
bin/countdownd-redis: $(sources) $(shell find $(bridge)/Package.swift $(bridge)/Sources -type f)
	@scripts/install-dependencies --check build
	env -u COUNTDOWND_WARNINGS $(build_release) $(dynamic) --package-path $(bridge) --product countdownd-redis
	@install -D -m 755 $(bridge)/.build/release/countdownd-redis $@

# Completions come from the executables, so they are never older.
$(BUILT)/share: $(programs:%=$(BUILT)/%) scripts/manuals $(wildcard packaging/manuals/* packaging/po/*) Sources/IPC/io.countdownd.varlink
	@rm -rf $@ && mkdir -p $@
	@for language in $(patsubst packaging/po/%.po,%,$(wildcard packaging/po/*.po)); do \
	  mkdir -p $@/locale/$$language/LC_MESSAGES; \
	  msgfmt --check --output-file=$@/locale/$$language/LC_MESSAGES/countdownd.mo packaging/po/$$language.po; \
	done
	scripts/manuals $(BUILT) $@
	@$(BUILT)/countdownctl --generate-completion-script bash | sed '1{/^#!/d}' > $@/countdownctl
	@$(BUILT)/countdownctl --generate-completion-script zsh > $@/_countdownctl
	@$(BUILT)/countdownctl --generate-completion-script fish > $@/countdownctl.fish

install_program = install -m 755 $(if $(STRIP),-s --strip-program='$(STRIP)')

# Packages stage the files in DESTDIR. Otherwise a record of them is kept, for uninstall.
STAGE = $(if $(DESTDIR),$(DESTDIR),$(CURDIR)/.build/stage)
record := $(PREFIX)/share/countdownd/installed
define install_recorded
	$(if $(DESTDIR),,rm -rf '$(STAGE)')
	+@$(MAKE) --no-print-directory $@-files
	$(if $(DESTDIR),,scripts/record-install '$(STAGE)' '$(record)$(@:install%=%)')
endef

install: build ## install below PREFIX, staged in DESTDIR
	$(install_recorded)

install-fleet: build-fleet $(BUILT)/share ## install the bridge to Redis, like install
	$(install_recorded)

install-files: build
	install -d '$(STAGE)$(bindir)' '$(STAGE)$(unitdir)' '$(STAGE)$(interfacedir)'
	$(install_program) $(programs:%=$(BUILT)/%) '$(STAGE)$(bindir)'
	install -m 644 Sources/IPC/io.countdownd.varlink '$(STAGE)$(interfacedir)'
	install -d '$(STAGE)$(mandir)/man1' '$(STAGE)$(mandir)/man7'
	install -m 644 $(programs:%=$(BUILT)/share/%.1) '$(STAGE)$(mandir)/man1'
	install -m 644 $(BUILT)/share/io.countdownd.7 '$(STAGE)$(mandir)/man7'
	install -D -m 644 $(BUILT)/share/countdownctl '$(STAGE)$(bashdir)/countdownctl'
	install -D -m 644 $(BUILT)/share/_countdownctl '$(STAGE)$(zshdir)/_countdownctl'
	install -D -m 644 $(BUILT)/share/countdownctl.fish '$(STAGE)$(fishdir)/countdownctl.fish'
	install -D -m 644 packaging/desktop/countdown-notify.desktop '$(STAGE)$(applicationsdir)/countdown-notify.desktop'
	$(call install_service,../packaging/desktop/$(menu_entry),$(applicationsdir))
	install -D -m 644 packaging/desktop/icons/countdownd.svg '$(STAGE)$(iconsdir)/scalable/apps/countdownd.svg'
	install -D -m 644 packaging/desktop/icons/countdownd-symbolic.svg '$(STAGE)$(iconsdir)/symbolic/apps/countdownd-symbolic.svg'
	install -D -m 644 packaging/desktop/$(metainfo) '$(STAGE)$(metainfodir)/$(metainfo)'
	install -D -m 755 packaging/desktop/session '$(STAGE)$(libexecdir)/session'
	install -d '$(STAGE)$(autostartdir)'
	$(call install_service,../packaging/desktop/countdownd-session.desktop,$(autostartdir))
	for file in $(translations); do \
	  install -D -m 644 $(BUILT)/share/locale/$$file '$(STAGE)$(localedir)'/$$file; \
	done
	install -m 644 systemd/countdownd.socket '$(STAGE)$(unitdir)'
	$(call install_service,countdownd.service,$(unitdir))
	$(call install_service,countdown-notify.service,$(unitdir))
	$(call install_service,countdown-hook@.service,$(unitdir))
	$(call install_service,countdown-undo.service,$(unitdir))
	install -d '$(STAGE)$(unitdir)/default.target.wants'
	install -m 644 systemd/countdown-undo.path '$(STAGE)$(unitdir)'
	ln -sf ../countdown-undo.path '$(STAGE)$(unitdir)/default.target.wants/countdown-undo.path'
	$(call install_service,countdown-notify-wake.conf,$(unitdir))
	@if [ -n '$(DESTDIR)' ] || refused=$$(scripts/check-user-namespaces); then \
	  for unit in $(sandboxed); do \
	    (set -x; install -D -m 644 systemd/$$unit$(sandbox) '$(STAGE)$(unitdir)'/$$unit$(sandbox)); \
	  done; \
	else \
	  echo "50-sandbox.conf is not installed: the services of users cannot have user namespaces here ($$refused)"; \
	fi
ifneq ($(systemunitdir),)
	install -d '$(STAGE)$(systemunitdir)'
	install -m 644 systemd/system/countdownd@.socket systemd/system/countdownd-shared@.socket '$(STAGE)$(systemunitdir)'
	$(call install_service,system/countdownd@.service,$(systemunitdir))
	$(call install_service,system/countdownd-shared@.service,$(systemunitdir))
endif

install-fleet-files: build-fleet $(BUILT)/share
	$(install_program) -D $(BUILT)/countdownd-redis '$(STAGE)$(bindir)/countdownd-redis'
	install -D -m 644 $(BUILT)/share/countdownd-redis.1 '$(STAGE)$(mandir)/man1/countdownd-redis.1'
ifneq ($(systemunitdir),)
	install -d '$(STAGE)$(systemunitdir)'
	$(call install_service,system/countdownd-redis@.service,$(systemunitdir))
endif

# FILE FOLDER: a unit, drop-in or autostart entry, which names its program below /usr. One sed for another PREFIX is less than a
# drop-in for each unit, because ExecStart= must be written again there; and bare names with ExecSearchPath= fail
# `systemd-analyze verify` of 252.
install_service = sed -e 's|\([="]\)/usr/bin/|\1$(bindir)/|' -e 's|=/usr/libexec/countdownd/|=$(libexecdir)/|' \
	  -e 's|/usr/lib/systemd/user/|$(unitdir)/|' systemd/$1 > '$(STAGE)$2/$(notdir $1)' && \
	  chmod 644 '$(STAGE)$2/$(notdir $1)'

uninstall: ## remove what install and install-fleet have recorded
	scripts/record-install --remove '$(record)' '$(record)-fleet'

# The packages of debian/ from the executables in bin/, without those of symbols: dpkg-buildpackage in the source tarball
# compiles the executables and makes all.
deb: ## the Debian packages in dist/; DEB_BUILD_PROFILES=pkg.countdownd.no-redis leaves out the bridge
	scripts/install-dependencies deb
	@$(MAKE) build $(if $(findstring no-redis,$(DEB_BUILD_PROFILES)),,build-fleet)
	mkdir -p dist
	COUNTDOWND_BUILT='$(abspath $(BUILT))' COUNTDOWND_DIST='$(CURDIR)/dist' \
	  DEB_BUILD_PROFILES='$(DEB_BUILD_PROFILES) pkg.countdownd.other-swift' DEB_BUILD_OPTIONS='noautodbgsym' \
	  dpkg-buildpackage --build=binary --no-sign --no-pre-clean --buildinfo-option=-udist --changes-option=-udist \
	  --buildinfo-file=dist/countdownd.buildinfo --changes-file=dist/countdownd.changes

release: ## all files of a release in dist/, from a commit; builds twice, and fails if the bytes differ
	scripts/install-dependencies release
	scripts/release

lint: ## check the style of Swift and shell files, desktop files, workflows and licences
	swift format lint --strict --parallel --recursive $(swift_files)
	@if command -v shellcheck > /dev/null; then set -x; shellcheck --external-sources --source-path=SCRIPTDIR $(shell_files); \
	else echo 'shellcheck is not installed: the shell files are not checked'; fi
	scripts/check-metadata

clean: ## remove everything that was built
	rm -rf .build .build-address .build-thread Tests/Bench/.build Tests/Fuzz/.build $(bridge)/.build bin dist
