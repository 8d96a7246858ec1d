# nix-build --expr '(import <nixpkgs> { }).callPackage ./package.nix { }'
#
# Checked by nix-instantiate --parse. Not tried: a build, because nixpkgs has no Swift 6.2 yet; `swift` and `swiftpm` can be
# replaced by override.
{
  lib,
  stdenv,
  gettext,
  lld,
  pkg-config,
  swift,
  swiftpm,
  systemd,
  withRedis ? true,
}:

stdenv.mkDerivation (finalAttrs: {
  pname = "countdownd";
  version = "0.1.0";

  # The source tarball of `scripts/dist`, beside this file; it contains the Swift packages.
  src = ./. + "/countdownd-${finalAttrs.version}.tar.gz";

  nativeBuildInputs = [
    gettext
    lld
    pkg-config
    swift
    swiftpm
  ];
  buildInputs = [
    systemd
  ];

  # nixpkgs has no static C library in its usual place. The fixup phase strips the executables.
  makeFlags = [
    "PREFIX=${placeholder "out"}"
    "STATIC="
    "STRIP="
  ];
  buildFlags = [ "build" ] ++ lib.optional withRedis "build-fleet";
  installTargets = [ "install" ] ++ lib.optional withRedis "install-fleet";
  enableParallelBuilding = true;

  postPatch = "patchShebangs scripts";
  # SwiftPM keeps its caches in the home directory.
  preBuild = "export HOME=$TMPDIR";
  dontUseSwiftpmBuild = true;

  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    scripts/smoke $out/bin
    runHook postInstallCheck
  '';

  meta = {
    description = "Keyed countdowns that outlive the programs that start them";
    license = lib.licenses.asl20;
    mainProgram = "countdownctl";
    platforms = lib.platforms.linux;
  };
})
