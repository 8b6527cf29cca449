from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Dict

import pytest

from managed_spark import ConfigurationError, Settings, load_settings
from managed_spark.settings import profile_file, read_profile, write_profile


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dict[str, str]:
    monkeypatch.chdir(tmp_path)
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def quickstart(folder: Path, mode: int = 0o600) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "quickstart.json"
    file.write_text(json.dumps({"base_url": "http://127.0.0.1:8080", "username": "admin", "password": "p", "tenant_id": "t"}))
    file.chmod(mode)
    return file


def test_the_environment_comes_first_then_the_profile_then_the_quickstart(env: Dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No settings for the platform"):
        load_settings(env=env)
    quickstart(tmp_path / ".runtime")
    found = load_settings(env=env)
    assert (found.url, found.username, found.password, found.tenant) == ("http://127.0.0.1:8080", "admin", "p", "t")
    write_profile(profile_file(env), "default", {"url": "https://a.test/", "token": "50%"})
    assert (load_settings(env=env).url, load_settings(env=env).token) == ("https://a.test", "50%")
    set_too = {**env, "MSP_URL": "https://b.test", "MSP_TOKEN": "b"}
    assert load_settings(env=set_too).url == "https://b.test"
    assert load_settings("default", env=set_too).url == "https://a.test"
    with pytest.raises(ConfigurationError, match="no profile other"):
        load_settings(env={**env, "MSP_PROFILE": "other"})


def test_profiles_are_kept_private_and_beside_each_other(env: Dict[str, str]) -> None:
    file = profile_file(env)
    for name in ("a", "b"):
        write_profile(file, name, {"url": f"https://{name}.test", "token": name})
    assert file.stat().st_mode & 0o777 == 0o600
    first, second = read_profile(file, "a"), read_profile(file, "b")
    assert first and second and (first.token, second.token) == ("a", "b")


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_file_that_others_can_read_is_refused(env: Dict[str, str], tmp_path: Path) -> None:
    file = quickstart(tmp_path / ".runtime", 0o640)
    with pytest.raises(ConfigurationError, match=f"chmod 600 {os.path.join('.runtime', file.name)}"):
        load_settings(env=env)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://x", "must look like"),
        ("https://user:pw@x", "must not contain a password"),
        ("http://spark.test", "unencrypted"),
        ("https://[::1", "must look like https://host: Invalid IPv6 URL"),
        ("https://spark.test:port", "must look like https://host"),
    ],
)
def test_unsafe_urls_are_refused(url: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Settings(url, token="t")


@pytest.mark.parametrize("url", ["https://x/", " https://x/api/v1", "https://x/api/v1/docs", "https://x/console/"])
def test_addresses_of_a_platform_are_taken_for_its_server(url: str) -> None:
    assert Settings(url, token="t").url == "https://x"
    assert Settings("https://x/spark/", token="t").url == "https://x/spark"


def test_a_token_that_a_request_cannot_carry_is_refused(env: Dict[str, str]) -> None:
    for token in ("t\n1", "t\u00f6ken"):
        with pytest.raises(ConfigurationError, match="Copy it again, or run `msp login`"):
            Settings("https://x", token=token)
    assert load_settings(env={**env, "MSP_URL": "https://x", "MSP_TOKEN": "t-1\n"}).token == "t-1"


def test_secrets_are_not_shown() -> None:
    assert "secret" not in repr(Settings("https://x", username="ada", password="secret", token="secret"))
