"""The model of the library's first look: counted with sets of bits as one would count place by place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diagnose.scan.first_looks import LOW_BITS, Groups, Places, group_count

SAMPLE = b"step 12 of 99: loss 2.31, lr 1e-5\nstep 13 of 99: loss 2.29, lr 1e-5\nrank 3 waits for rank 4\n"
TEXTS = st.lists(st.binary(min_size=4, max_size=4) | st.sampled_from([b"loss", b"step", b"rank", b"wait"]), min_size=1)


def passes(sample: bytes, end: int, group: list[bytes]) -> bool:
    """Whether each of the bytes up to and including the one at `end` is one that some text of the group has there."""
    if end + 1 >= len(sample):
        return False  # the library looks at the last bytes of a buffer otherwise
    for far in range(4):
        at = end - far
        if at < 0:
            return False
        pairs = {(t[-1 - far], t[-far] & LOW_BITS) if far else (t[-1], None) for t in group}
        if (sample[at], sample[at + 1] & LOW_BITS if far else None) not in pairs:
            return False
    return True


@given(TEXTS)
def test_the_places_that_pass_are_counted_as_one_by_one(texts: list[bytes]) -> None:
    taken = sorted(set(texts))
    places = Places(SAMPLE)
    groups = Groups([taken[0]], 3, {t: places.ends(t) for t in taken})  # all from one border on are of one group
    same_group = [t for t in taken if t[::-1] >= taken[0][::-1]]
    for text in same_group:
        groups.take(text)
    assert groups.passing() == sum(passes(SAMPLE, end, same_group) for end in range(len(SAMPLE)))


def test_what_a_text_costs_is_what_taking_it_adds() -> None:
    places = Places(SAMPLE)
    groups = Groups([b"loss", b"step", b"rank"], 3, {t: places.ends(t) for t in (b"loss", b"step", b"rank")})
    groups.take(b"loss")
    before, cost = groups.passing(), groups.cost(b"step")
    groups.take(b"step")
    assert cost > 0
    assert groups.passing() == before + cost


def test_bytes_that_the_sample_lacks_are_rarest() -> None:
    common, rare = (Places(SAMPLE).rarities(text, 4)[0] for text in (b"step", b"QZXJ"))
    assert rare < common


def test_the_shortest_texts_take_groups_of_their_own_as_long_as_that_weighs_most() -> None:
    assert group_count({1: 1, 3: 6, 4: 9, 5: 40, 6: 49, 7: 1019}) == 3  # as hyperscan 5.4 parts them …
    assert group_count({1: 1, 3: 6, 4: 13, 5: 65, 6: 94, 7: 5795}) == 4  # … where there are more of the longest
    assert group_count({7: 900}) == 8


def test_more_lengths_than_groups_share_one() -> None:
    assert group_count(dict.fromkeys(range(1, 20), 1)) == 1
