"""What of the system is readable in a sandbox: programs, libraries and what they look up; nothing that holds a secret.

Absent ones are passed over, so one list serves all distributions.
"""

LINUX = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store",
    "/run/current-system/sw", "/snap",
)  # fmt: skip
"""Programs and libraries."""

HOME_TOOLS = {
    ".pyenv": (".pyenv",), ".rbenv": (".rbenv",), ".nodenv": (".nodenv",), ".asdf": (".asdf",), ".volta": (".volta",),
    ".nvm": (".nvm/versions",), ".local/share/fnm": (".local/share/fnm",), ".local/share/mise": (".local/share/mise",),
    ".cargo/bin": (".cargo/bin", ".rustup/toolchains", ".rustup/settings.toml"), ".sdkman": (".sdkman/candidates",),
    ".bun/bin": (".bun/bin",), ".deno/bin": (".deno/bin",), "go/bin": ("go/bin",), ".ghcup": (".ghcup",),
}  # fmt: skip
"""Where managers of languages keep programs in a home, by the part of it that the PATH names: what is readable then.
Nothing in them is a secret; what lies beside (.cargo/credentials.toml, for one) is not among them."""

LINUX_ETC = (
    # Who and where: names of users, hosts and services. Never shadow, sudoers or the machine's keys.
    "passwd", "group", "hosts", "resolv.conf", "nsswitch.conf", "host.conf", "gai.conf", "protocols", "services",
    "localtime", "timezone", "os-release", "locale.conf", "locale.alias", "mime.types", "shells",
    # How to find programs and libraries.
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld-musl-x86_64.path", "ld-musl-aarch64.path", "alternatives",
    "bash.bashrc", "bashrc", "inputrc", "profile", "profile.d", "terminfo", "fonts", "static",
    # Certificates of authorities; the folders beside these hold private keys.
    "ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf",
    "pki/ca-trust", "ca-certificates", "ca-certificates.conf", "crypto-policies",
)  # fmt: skip
"""Below /etc."""

MAC = (
    "/usr", "/bin", "/sbin", "/opt", "/System", "/Library/Apple", "/Library/Developer", "/Library/Fonts",
    "/Library/Frameworks", "/Library/Preferences/com.apple.networkd.plist", "/Library/Java", "/Applications/Xcode.app",
    "/private/etc/hosts", "/private/etc/localtime", "/private/etc/passwd", "/private/etc/group",
    "/private/etc/protocols", "/private/etc/resolv.conf", "/private/etc/services", "/private/etc/shells",
    "/private/etc/ssl", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select",
    "/private/var/run/resolv.conf", "/dev",
)  # fmt: skip
"""Programs, libraries and lookups of macOS, by their real paths."""
