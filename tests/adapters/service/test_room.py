"""What is said of a disk that is nearly full."""

from nightcrew.service.room import find_lack_of_room


def test_little_room_is_said_and_enough_is_not(tmp_path):
    assert find_lack_of_room(tmp_path, least_mb=0) == ""
    words = find_lack_of_room(tmp_path, least_mb=10**12)
    assert words.startswith("only ")
    assert str(tmp_path) in words
    assert find_lack_of_room(tmp_path / "gone", least_mb=10**12) == ""
