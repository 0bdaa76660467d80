"""Drawings show what the tensors are, in both languages, the same each time."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

import inside
from inside.observe.storages import group
from inside.pictures.svg import SMALLEST
from inside.tensors.pictures.storages import MAX_CELLS, draw_tensors

SVG = "{http://www.w3.org/2000/svg}"


def drawn():
    t = torch.arange(12).view(3, 4)
    return draw_tensors({"t": t, "row": t[1], "same": t, "copy": t.clone()})


def texts(picture):
    return ["".join(node.itertext()) for node in ET.fromstring(picture.svg).iter(f"{SVG}text")]


def heads(picture):
    """Where the heads of the arrows into the storages lie: (x, y)."""
    points = [tuple(map(float, p)) for p in re.findall(r'd="M(\S+) (\S+)l-8', picture.svg)]
    right = max(x for x, _ in points)
    return [(x, y) for x, y in points if x == right]


def test_device_is_cuda_only_where_there_is_one():
    assert inside.device.type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_picture_is_the_same_each_time():
    assert drawn() == drawn()


def test_bundle_holds_svg_and_text():
    picture = drawn()
    bundle = picture._repr_mimebundle_()
    assert bundle == {"image/svg+xml": picture.svg, "text/plain": picture.text}
    assert ET.fromstring(picture.svg).get("role") == "img"


def test_text_says_names_shapes_strides_offsets_and_shared_storage():
    assert drawn().text.splitlines() == [
        "storage 0: 12 elements, 96 bytes",
        "  t, same: sizes (3, 4), strides (4, 1), storage_offset 0, dtype int64, version 0",
        "  row: sizes (4,), strides (1,), storage_offset 4, dtype int64, version 0",
        "storage 1: 12 elements, 96 bytes",
        "  copy: sizes (3, 4), strides (4, 1), storage_offset 0, dtype int64, version 0",
    ]


def test_arrow_ends_at_the_cell_at_the_offset():
    t = torch.arange(12)
    picture = draw_tensors({"a": t, "b": t[5:], "c": t[11:]})
    beside = {  # baseline of the number beside each cell, which stands 4 below its middle
        node.text: float(node.get("y")) - 4
        for node in ET.fromstring(picture.svg).iter(f"{SVG}text")
        if node.get("fill-opacity")
    }
    assert [y for _, y in heads(picture)] == [beside["0"], beside["5"], beside["11"]]


def test_arrow_counts_bytes_where_dtypes_differ():
    t = torch.zeros(4, dtype=torch.int64)
    ys = [y for _, y in heads(draw_tensors({"t": t, "half": t.view(torch.int32)[4:]}))]
    assert (ys[1] - ys[0]) / 24 == 2


def test_version_counter_is_read_from_the_tensor():
    t = torch.zeros(2)
    t.add_(1)
    assert "version 1" in draw_tensors({"t": t}).text
    with torch.inference_mode():
        assert "version none" in draw_tensors({"u": torch.zeros(2)}).text


def test_values_of_the_cells_stand_in_the_picture():
    picture = draw_tensors({"w": torch.tensor([1.5, -2.25], requires_grad=True)})
    assert {"1.5", "-2.25"} <= set(texts(picture))


def test_long_storage_is_cut_and_says_how_much():
    assert f"… +{40 - MAX_CELLS}" in texts(draw_tensors({"t": torch.arange(40)}))


def test_each_chinese_line_has_its_english_line_right_below():
    lines = [
        (node.get("class"), float(node.get("x")), float(node.get("y")))
        for node in ET.fromstring(drawn().svg).iter(f"{SVG}text")
        if node.get("class")
    ]
    zh, en = lines[::2], lines[1::2]
    assert len(zh) == 5
    for (zh_class, x, y), (en_class, *place) in zip(zh, en, strict=True):
        assert (zh_class, en_class, place) == ("lang-zh", "lang-en", [x, y + 15])


def test_no_address_is_drawn():
    picture = drawn()
    assert not re.search(r"0x[0-9a-f]+|\d{9,}", picture.svg + picture.text)


def test_colours_come_from_the_page():
    body = re.sub(r"<style>.*?</style>", "", drawn().svg)  # white paper only where opened alone
    assert not re.search(r"#[0-9a-f]{3,6}\b|white|black", body)


def test_text_stays_legible_on_a_phone():
    root = ET.fromstring(drawn().svg)
    width = float(root.get("viewBox").split()[2])
    least = float(re.search(r"min-width:min\(\d+px,(\d+)px\)", root.get("style"))[1])
    smallest = min(float(n.get("font-size")) for n in root.iter(f"{SVG}text"))
    assert smallest * least / width >= SMALLEST - 0.1


def test_names_are_escaped():
    picture = draw_tensors({"a<b>&": torch.zeros(1)})
    assert "a<b>&" in texts(picture)


def test_two_storages_over_one_memory_stay_two():
    shared = torch.zeros(3).numpy()
    a, b = torch.from_numpy(shared), torch.from_numpy(shared)
    assert a.data_ptr() == b.data_ptr()
    assert len(group({"a": a, "b": b})) == 2


def test_tensor_without_storage_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^s: a torch\.sparse_coo tensor has no storage"):
        draw_tensors({"s": torch.eye(2).to_sparse()})
