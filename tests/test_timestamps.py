"""Clock forms: what is read, what is left out, and what `resolve` makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.lines import timestamp as timestamps
from diagnose.lines.cache import tables
from diagnose.lines.timestamp import format_rfc3339, read_stamp, resolve

FORMS = [row for rows in tables(timestamps.FORMS)["stamps"].values() for row in rows]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["name"])
def test_every_form_reads_its_sample(form):
    assert read_stamp(form["sample"]).form == form["name"]


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-05-15T12:14:08.815954978Z stderr F x", "2026-05-15T12:14:08.816Z"),
        ("2026-11-20T17:03:28.123456+08:00 node7 x", "2026-11-20T09:03:28.123Z"),
        ("2026-11-20 17:03:28,355 - root", "2026-11-20T17:03:28.355Z"),
        ("2026-02-16T10:8:25.100Z x", "2026-02-16T10:08:25.100Z"),
        ("[2026-11-20, 17:03:28 UTC] {subprocess.py:93} INFO - x", "2026-11-20T17:03:28Z"),
        ("11/20/2026 17:03:56 - INFO", "2026-11-20T17:03:56Z"),
        ("[03/07/23 08:30:12] INFO", "2023-03-07T08:30:12Z"),
        ("Fri Nov 20 16:59:19 2026[1,0]<stdout>:x", "2026-11-20T16:59:19Z"),
        ("[Fri Nov 20 17:00:54 2026] python3 invoked oom-killer", "2026-11-20T17:00:54Z"),
        ("1732121008", "2024-11-20T16:43:28Z"),
        ("1732121008123", "2024-11-20T16:43:28.123Z"),
        ("1732121008123456789", "2024-11-20T16:43:28.123Z"),
        ("[1699999999.123456] [n1:12345:0] ib_mlx5_log.c:171  UCX  ERROR", "2023-11-14T22:13:19.123Z"),
        ("E0000 00:00:1732121008.123456 4471 cuda_dnn.cc:8310]", "2024-11-20T16:43:28.123Z"),
        ("F20221031 10:52:42.193126 106986 eager_nccl_comm_manager.cpp:75] Check failed", "2022-10-31T10:52:42.193Z"),
    ],
)
def test_a_full_stamp_gives_its_instant(text, instant):
    stamp = read_stamp(text)
    assert format_rfc3339(stamp.seconds) == instant


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("E1120 17:07:07.352129142 x.cpp:1]", "2026-11-20T17:07:07Z"),
        ("E321 02:07:08.408271257 x.cpp:1]", "2026-03-21T02:07:08Z"),
        ("W0106 02:07:08.408000 2606 x.py:1]", "2026-01-06T02:07:08.408Z"),
        ("Nov 12 03:10:02 host kernel: x", "2026-11-12T03:10:02Z"),
        ("08-12 04:11:20 [core.py:1136] x", "2026-08-12T04:11:20Z"),
        ("10/20 11:00:00 d2.utils.events]: x", "2026-10-20T11:00:00Z"),
    ],
)
def test_a_stamp_without_a_year_takes_the_given_one(text, instant):
    stamp = read_stamp(text)
    assert not stamp.has_year
    assert resolve(stamp, None, 0.0) is None
    assert format_rfc3339(resolve(stamp, 2026, 0.0) or 0.0) == instant


def test_nine_digits_of_c10_are_not_wall_time():
    later, earlier = read_stamp("E1120 01:01:39.254662130"), read_stamp("E1120 01:01:39.677080285")
    assert (later.seconds, later.resolution_s) == (earlier.seconds, 1.0)


def test_a_leap_day_without_a_year_survives_and_fails_in_another_year():
    stamp = read_stamp("W0229 01:02:03.100000 7 x.py:1]")
    assert stamp is not None
    assert resolve(stamp, 2024, 0.0) == 1709168523.1
    assert resolve(stamp, 2026, 0.0) is None


def test_a_printed_zone_beats_the_given_one():
    zoned, bare = read_stamp("2026-11-20T17:03:28Z"), read_stamp("2026-11-20T17:03:28")
    assert resolve(zoned, None, 28800.0) == zoned.seconds
    assert resolve(bare, None, 28800.0) == bare.seconds - 28800.0


def test_seconds_since_boot_and_bare_clocks_have_no_instant():
    boot, clock = read_stamp("[ 3667.090810] x"), read_stamp("18:11:06.680 [rank4]: x")
    assert (boot.since_boot, boot.seconds, boot.has_date) == (True, 3667.09081, False)
    assert (clock.has_date, clock.seconds) == (False, 65466.68)
    assert (resolve(boot, 2026, 0.0), resolve(clock, 2026, 0.0)) == (None, None)


@given(st.text(alphabet="0123456789-/:.,TZ+ []EIWNovFri²", max_size=40), st.integers(0, 5))
def test_no_text_raises(text, start):
    stamp = read_stamp(text, start)
    assert stamp is None or start < stamp.end <= len(text)
    if stamp:
        resolve(stamp, 2026, 0.0)
