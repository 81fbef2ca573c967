# Sourced by the scripts that install Debian's packages.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_apt() {
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null &&
    { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

# Installs those of the packages that are missing.
apt_install() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "apt-get install ${missing[*]}"
  local quiet=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
  as_root "${quiet[@]}" update || say "apt-get update failed; trying with the package lists at hand"
  as_root "${quiet[@]}" install --no-install-recommends "${missing[@]}" >&2 || {
    say "apt-get could not install ${missing[*]}: install them by hand and run this again"
    return 1
  }
}
