"""Account files: what Apache's files say, what is refused and where, and that a written file is read the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.access.document import AccessDocument, BadAccessText
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.bodies.topics import DataVersion

AS_APACHE = b"""\
# who needs no signature
globalWhiteRemoteAddresses:
  - 10.10.103.*
  - 192.168.0.*

accounts:
  - accessKey: RocketMQ
    secretKey: 12345678
    whiteRemoteAddress:
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: SUB
    topicPerms:
      - topicA=DENY
      - topicB=PUB|SUB
    groupPerms:
      # the group should convert to retry topic
      - groupA=DENY

  - accessKey: rocketmq2
    secretKey: 12345678
    whiteRemoteAddress: 192.168.1.*
    # if it is admin, it could access all resources
    admin: true
dataVersion:
  - counter: 4
    timestamp: 1700000000000
"""


def test_the_file_that_apache_ships() -> None:
    document = AccessDocument.parse(AS_APACHE)

    assert document == AccessDocument(
        ("10.10.103.*", "192.168.0.*"),
        (
            PlainAccessConfig(
                "RocketMQ",
                "12345678",
                None,
                admin=False,
                default_topic_perm="DENY",
                default_group_perm="SUB",
                topic_perms=["topicA=DENY", "topicB=PUB|SUB"],
                group_perms=["groupA=DENY"],
            ),
            PlainAccessConfig("rocketmq2", "12345678", "192.168.1.*", admin=True),
        ),
        DataVersion(4, 1_700_000_000_000),
    )


@pytest.mark.parametrize("text", [b"", b"# nothing yet\n", b"accounts:\n", b"accounts: []\n", b"~"])
def test_a_file_without_accounts(text: bytes) -> None:
    assert AccessDocument.parse(text) == AccessDocument()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("accounts:\n- accessKey: orders-service\n", "line 2: the secretKey must be longer"),
        ("acounts: []\n", "line 1: 'acounts' is not one of globalWhiteRemoteAddresses, accounts, dataVersion"),
        ("accounts:\n- accesKey: orders-service\n", "line 2: 'accesKey' is not one of accessKey, secretKey"),
        ("accounts: []\naccounts: []\n", "line 2: accounts is there twice"),
        ("accounts: orders\n", "line 1: a list is expected here"),
        ("- accounts\n", "line 1: a table with globalWhiteRemoteAddresses"),
        ("accounts:\n- &a {accessKey: orders-service, secretKey: 12345678}\n- *a\n", "line 3: an alias"),
        ("accounts: [[[[[[[[[[]]]]]]]]]]\n", "line 1: this is nested too deeply"),
        ("accounts:\n\t- accessKey: x\n", "line 2: found character"),
        ("globalWhiteRemoteAddresses: [10.0.0.999]\n", "line 1: '10.0.0.999' has 999, which is too large"),
        ("accounts:\n- {accessKey: orders-service, secretKey: 12345678, admin: 1}\n", "line 2: admin is true or"),
        ("dataVersion: [{counter: many}]\n", "line 1: 'many' is not a number"),
        ("a: 1\n---\nb: 2\n", "line 2: but found another document"),
        ('accounts: "\\UFFFFFFFF"\n', "it is not YAML"),
        ("accounts:\n- {accessKey: orders-service, secretKey: {}}\n", "line 2: a text is expected here"),
    ],
)  # fmt: skip
def test_what_is_refused_and_where(text: str, says: str) -> None:
    with pytest.raises(BadAccessText) as refused:
        AccessDocument.parse(text.encode())
    assert says in str(refused.value)


def test_an_account_twice() -> None:
    one = "- {accessKey: orders-service, secretKey: 12345678}\n"
    with pytest.raises(BadAccessText, match="line 3: the account orders-service is there twice"):
        AccessDocument.parse(f"accounts:\n{one}{one}".encode())


def test_other_bytes() -> None:
    with pytest.raises(BadAccessText, match="not UTF-8"):
        AccessDocument.parse(b"accounts: \xff\n")
    with pytest.raises(BadAccessText, match="larger than"):
        AccessDocument.parse(b"#" * 5_000_000)


KEYS = st.text(min_size=7, max_size=12)
NAMES = st.text("abcDEF_-%|019", min_size=1, max_size=8)
RIGHTS = st.sampled_from(["DENY", "PUB", "SUB", "PUB|SUB", "SUB|PUB"])
LISTS = st.none() | st.lists(st.builds("{}={}".format, NAMES, RIGHTS), max_size=4)
ACCOUNTS = st.builds(
    PlainAccessConfig,
    access_key=KEYS,
    secret_key=KEYS,
    white_remote_address=st.none() | st.sampled_from(["*", "10.0.*.*", "::1"]),
    admin=st.booleans(),
    default_topic_perm=st.none() | RIGHTS,
    default_group_perm=st.none() | RIGHTS,
    topic_perms=LISTS,
    group_perms=LISTS,
)


@given(
    st.lists(ACCOUNTS, max_size=4, unique_by=lambda each: each.access_key),
    st.lists(st.sampled_from(["10.0.0.1", "192.168.*.*", "*"]), max_size=3),
    st.integers(0, 10**12),
)
def test_a_written_file_is_read_the_same(accounts: list[PlainAccessConfig], white: list[str], counter: int) -> None:
    document = AccessDocument(tuple(white), tuple(accounts), DataVersion(counter, 1))
    assert AccessDocument.parse(document.dump()) == document
