# Sourced by the bootstrap scripts: installs what is missing of Debian's packages.

# install_packages STEP PACKAGE...
# Without root it prints the one line to run and ends the script.
install_packages() {
    local name=$1 package missing=()
    shift
    for package in "$@"; do
        # ${Status} rather than the exit code: dpkg also knows packages that were removed.
        [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)" = "install ok installed" ] || missing+=("$package")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "This machine has no apt-get; install what these Debian packages hold by its own means: ${missing[*]}" >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        echo "Packages are missing and only root can install them. Run:" >&2
        echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    step "$name" update_and_install "${missing[@]}"
}

# update_lists [options of apt-get]: one of the machine's sources may be out of order, and none of those that are needed.
update_lists() {
    apt-get -q "$@" update || echo "Not all package lists could be brought up to date; going on with those that are here."
}

update_and_install() {
    update_lists
    # Another program may be installing something, as fresh machines do by themselves: wait for it.
    apt-get -o DPkg::Lock::Timeout=600 install -q -y --no-install-recommends "$@"
}
