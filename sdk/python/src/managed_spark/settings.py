"""Address and credentials of the platform, from the environment, a profile or the quickstart's file; never from code."""

from __future__ import annotations

import configparser
import json
import os
import re
import stat
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Mapping, Optional
from urllib.parse import SplitResult, urlsplit

from .errors import ConfigurationError

DEFAULT_PROFILE = "default"

#: This machine, as URLs name it.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
TOKEN = re.compile(r"[\x21-\x7e]+")

HOW_TO_CONFIGURE = (
    "Set MSP_URL and MSP_TOKEN (or MSP_USERNAME and MSP_PASSWORD), run `msp login`, "
    "or run this in the project folder while a quickstart serves."
)


@dataclass(frozen=True)
class Settings:
    """An address and either a token or a user with a password."""

    url: str
    token: Optional[str] = field(default=None, repr=False)
    username: Optional[str] = None
    password: Optional[str] = field(default=None, repr=False)
    #: Id or name of the tenant; needed with a password if the user belongs to several.
    tenant: Optional[str] = None
    #: Where the settings come from, for messages.
    source: str = "arguments"
    #: Allows plain HTTP to other machines, which exposes the token to the network.
    allow_http: bool = False

    def __post_init__(self) -> None:
        # Addresses of the API and of the console are what people copy; the paths of operations begin below both.
        object.__setattr__(self, "url", re.sub(r"(/console|/api/v1(/docs)?)?/*$", "", self.url.strip()))
        parts = _url_parts(self.url, self.source)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"The URL of {self.source} must look like https://host. {HOW_TO_CONFIGURE}")
        if parts.username or parts.password:
            raise ConfigurationError(f"The URL of {self.source} must not contain a password. {HOW_TO_CONFIGURE}")
        if parts.scheme == "http" and not is_local(self.url) and not self.allow_http:
            raise ConfigurationError(
                f"The URL of {self.source} would send the token unencrypted to {parts.hostname}. "
                "Use https, or allow it with MSP_ALLOW_HTTP=1 or `allow_http = true` in the profile."
            )
        if not self.token and not (self.username and self.password):
            raise ConfigurationError(f"{self.source} has neither a token nor a user name with a password. {HOW_TO_CONFIGURE}")
        if self.token:
            checked_token(self.token, self.source)


def is_local(url: str) -> bool:
    """Returns True if requests to the URL stay on this machine, provided that they bypass proxies."""
    return urlsplit(url).hostname in [host.strip("[]") for host in LOCAL_HOSTS]


def checked_token(token: str, source: str) -> str:
    """Returns the token. The error of an HTTP library would show a token that a header cannot hold, and a line break would add
    a setting to the file of profiles.
    """
    if not TOKEN.fullmatch(token):
        raise ConfigurationError(
            f"The token of {source} is invalid: it contains a space, a line break or another character that tokens never have. "
            "Copy it again, or run `msp login`."
        )
    return token


def load_settings(profile: Optional[str] = None, env: Optional[Mapping[str, str]] = None) -> Settings:
    """Returns the settings of the named profile, or else the first of: the environment, the profile that MSP_PROFILE names or
    that is called `default`, and a quickstart that serves from this folder.
    """
    env = os.environ if env is None else env
    if profile is None and env.get("MSP_URL"):
        return _settings(env["MSP_URL"], {name: env.get(f"MSP_{name.upper()}") for name in FIELDS}, "the environment")
    file = profile_file(env)
    name = profile or env.get("MSP_PROFILE")
    found = read_profile(file, name or DEFAULT_PROFILE)
    if found is not None:
        return found
    if name is not None:
        raise ConfigurationError(f"{file} has no profile {name}. Run `msp login --profile {name}`.")
    quickstart = Path(env.get("RUNTIME_DIR") or ".runtime") / "quickstart.json"
    if quickstart.is_file():
        return _of_quickstart(quickstart)
    raise ConfigurationError(f"No settings for the platform were found. {HOW_TO_CONFIGURE}")


FIELDS = ("token", "username", "password", "tenant", "allow_http")


def profile_file(env: Optional[Mapping[str, str]] = None) -> Path:
    env = os.environ if env is None else env
    if env.get("MSP_CONFIG_FILE"):
        return Path(env["MSP_CONFIG_FILE"])
    base = Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else Path.home() / ".config"
    return base / "managed-spark" / "profiles.ini"


def read_profile(file: Path, name: str) -> Optional[Settings]:
    section = _profiles(file)
    if not section.has_section(name):
        return None
    values = dict(section[name])
    if "url" not in values:
        raise ConfigurationError(f"The profile {name} in {file} has no url. Run `msp login --profile {name}`.")
    return _settings(values["url"], {key: values.get(key) for key in FIELDS}, f"the profile {name} in {file}")


def write_profile(file: Path, name: str, values: Mapping[str, str]) -> None:
    """Writes a profile to the file, which only its owner can read, and keeps the others."""
    profiles = _profiles(file)
    profiles[name] = dict(values)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The new file replaces the old one atomically, so that no reader sees half of it.
    draft = file.with_name(f"{file.name}.{uuid.uuid4().hex}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            profiles.write(stream)
        os.replace(draft, file)
    finally:
        # A failed write must not leave a token behind.
        draft.unlink(missing_ok=True)


def _profiles(file: Path) -> configparser.ConfigParser:
    # Passwords may contain a percent sign, which interpolation would take for a reference.
    profiles = configparser.ConfigParser(interpolation=None, default_section="")
    if file.is_file():
        try:
            profiles.read_string(_private_text(file))
        except configparser.Error as error:
            raise ConfigurationError(f"{file} is not a valid profile file: {type(error).__name__}.") from None
    return profiles


def _url_parts(url: str, source: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        # Only the access tells whether the port is one.
        _ = parts.port
    except ValueError as error:
        raise ConfigurationError(f"The URL of {source} must look like https://host: {error}.") from None
    return parts


def _of_quickstart(file: Path) -> Settings:
    try:
        values: Dict[str, str] = json.loads(_private_text(file))
        url, known = values["base_url"], {"tenant": values.get("tenant_id"), **values}
    except (ValueError, KeyError, TypeError):
        raise ConfigurationError(f"{file} is not the file of a quickstart.") from None
    return _settings(url, {key: known.get(key) for key in FIELDS}, f"the quickstart's {file}")


def _settings(url: str, values: Mapping[str, Optional[str]], source: str) -> Settings:
    allow_http = str(values.get("allow_http") or "").lower() in ("1", "true", "yes")
    texts = {name: values.get(name) or None for name in ("token", "username", "password", "tenant")}
    # Files that hold a token often end with a line break.
    texts["token"] = texts["token"] and texts["token"].strip()
    return Settings(url=url, **texts, source=source, allow_http=allow_http)


def _private_text(file: Path) -> str:
    """Reads a file with a secret. What others can write could send the caller's data elsewhere."""
    with open(file, encoding="utf-8") as stream:
        state = os.fstat(stream.fileno())
        if os.name == "posix" and stat.S_IMODE(state.st_mode) & 0o077:
            raise ConfigurationError(f"{file} contains a secret, and others can read it. Run `chmod 600 {file}`.")
        if os.name == "posix" and state.st_uid != os.geteuid():
            raise ConfigurationError(f"{file} belongs to another user. Use a file of your own.")
        return stream.read()
