"""Requirements of `console.accounts.services`: users and tokens, each change in the audit."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from console.accounts import services
from console.accounts.models import Token, User
from console.audit.models import AuditRecord
from console.errors import AlreadyExists, Conflict
from tests.support.cast import BY, PASSWORD, Cast


def last_record() -> AuditRecord:
    found = AuditRecord.objects.first()
    assert found is not None
    return found


def test_a_password_is_kept_as_argon2(db: None) -> None:
    user = services.add_user(BY, username="mia", password=PASSWORD, role="viewer")
    assert user.password.startswith("argon2$argon2id$")


def test_a_weak_password_is_refused(cast: Cast) -> None:
    for weak in ("short", "password1", "operator2"):
        with pytest.raises(ValidationError):
            services.add_user(BY, username="operator2", password=weak, role="viewer")
    assert not User.objects.filter(username="operator2").exists()


def test_users_and_the_tokens_of_one_have_a_limit(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_USERS", User.objects.count())
    with pytest.raises(Conflict, match="users, and more are not allowed"):
        services.add_user(BY, username="mia", password=PASSWORD, role="viewer")
    viewer = cast["viewer"]
    for number in range(services.MAX_TOKENS - viewer.tokens.count()):
        services.add_token(BY, viewer, name=f"t{number}", scopes=["read"])
    with pytest.raises(Conflict, match="viewer has 100 tokens"):
        services.add_token(BY, viewer, name="one more", scopes=["read"])
    with pytest.raises(AlreadyExists):
        services.add_token(BY, viewer, name="t0", scopes=["read"])
    services.add_token(BY, cast["admin"], name="of another user", scopes=["read"])


def test_a_change_of_role_is_recorded_before_and_after(cast: Cast) -> None:
    services.change_user(BY, cast["viewer"], {"role": "developer"})
    record = last_record()
    assert (record.action, record.resource, record.actor) == ("user.update", "users/viewer", "system:test")
    assert (record.before or {})["role"] == "viewer"
    assert (record.after or {})["role"] == "developer"


def test_a_new_password_is_recorded_without_its_text(cast: Cast) -> None:
    services.change_user(BY, cast["viewer"], {"password": "another horse battery"})
    assert "another" not in str(last_record().after)
    assert (last_record().after or {})["password"] == "changed"


@pytest.mark.parametrize("change", [{"role": "viewer"}, {"is_active": False}])
def test_the_last_admin_stays(cast: Cast, change: dict[str, object]) -> None:
    with pytest.raises(services.LastAdmin):
        services.change_user(BY, cast["admin"], change)
    with pytest.raises(services.LastAdmin):
        services.remove_user(BY, cast["admin"])
    # With a second one the first can be removed
    services.change_user(BY, cast["operator"], {"role": "admin"})
    services.remove_user(BY, cast["admin"])
    assert not User.objects.filter(username="admin").exists()


def test_a_password_is_changed_by_who_knows_it(cast: Cast) -> None:
    with pytest.raises(services.WrongPassword):
        services.change_password(BY, cast["viewer"], current="guess", new="another horse battery")
    services.change_password(BY, cast["viewer"], current=PASSWORD, new="another horse battery")
    assert cast["viewer"].check_password("another horse battery")


def test_a_token_is_found_by_its_text_alone(cast: Cast) -> None:
    text = cast.token("developer", "produce")
    token = services.find_token(text)
    assert token is not None
    assert (token.user.username, token.scopes) == ("developer", ["produce"])
    key = token.key
    for wrong in (f"gty_{key}_{'x' * 43}", "gty_unknownkey00_" + "x" * 43, "nonsense", ""):
        assert services.find_token(wrong) is None
    assert text not in str(list(Token.objects.values()))
    assert text not in str(list(AuditRecord.objects.values()))


def test_a_token_ends_with_its_time_and_with_its_user(cast: Cast) -> None:
    text = cast.token("viewer")
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert services.find_token(text) is None
    Token.objects.update(expires_at=timezone.now() + timedelta(hours=1))
    assert services.find_token(text) is not None
    services.change_user(BY, cast["viewer"], {"is_active": False})
    assert services.find_token(text) is None


def test_the_use_of_a_token_is_noted_once_a_minute(cast: Cast) -> None:
    text = cast.token("viewer")
    services.find_token(text, "192.0.2.1")
    first = Token.objects.get().last_used_at
    services.find_token(text, "192.0.2.2")
    assert Token.objects.get().last_used_at == first is not None
    assert Token.objects.get().last_used_address == "192.0.2.1"
    Token.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    services.find_token(text, "192.0.2.2")
    assert Token.objects.get().last_used_address == "192.0.2.2"
    assert Token.objects.filter(last_used_at__gt=timezone.now() - timedelta(minutes=1)).exists()


def test_a_removed_token_is_recorded_with_its_scopes(cast: Cast) -> None:
    cast.token("viewer", "read:orders*")
    services.remove_token(BY, Token.objects.get())
    assert (last_record().action, (last_record().before or {})["scopes"]) == ("token.delete", ["read:orders*"])
