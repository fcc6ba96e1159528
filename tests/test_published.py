"""Published numbers: the shipped files against the printed tables, and the border checks of the format."""

import pandas as pd
import pytest

from core import published

HEADER = """
format_version = 1
name = "x"
title = "X"
label = "X"
citation = "X"
source = "X, table 1"
grade = "B"
"""


def test_notebook_table_as_printed():
    """Spot values of the printed table, the duplicate included; 5 bit counts by 3 temperatures."""
    table = published.rows("online_accuracy", "mnist")
    table = table[table["source"] == "randbits_mnist_notebook"].pivot(index="bits", columns="tau", values="value")
    assert table.shape == (5, 3)
    assert table.loc[0, 0.1] == 0.8916
    assert table.loc[5, 0.2] == table.loc[10, 0.05] == 0.3299
    assert table.loc[20].tolist() == [0.0990, 0.1033, 0.0989]
    assert table.to_numpy().sum() == pytest.approx(2.6906 + 1.6480 + 0.6201 + 0.3409 + 0.3012)  # row sums, added by hand


@pytest.mark.parametrize("source", published.sources().values(), ids=lambda source: source.name)
def test_every_source_says_where_it_comes_from(source):
    assert source.source and source.citation and source.grade in published.GRADES
    assert source.name == next(path.stem for path in published.FOLDER.glob("*.toml") if path.stem == source.name)


def test_counterparts_need_the_same_settings():
    """A study with the notebook's settings gets its numbers; a different batch size or data set gets none."""
    settings = published.sources()["randbits_mnist_notebook"].table[0].settings
    ours = pd.DataFrame([{"dataset": "mnist", **settings, "bits": 5, "tau": 0.1}])
    assert len(published.counterparts(ours, "online_accuracy")) == 15
    assert published.counterparts(ours, "linear_accuracy").empty
    assert published.counterparts(ours.assign(batch_size=250), "online_accuracy").empty
    assert published.counterparts(ours.assign(dataset="mnist-5k"), "online_accuracy").empty
    assert published.counterparts(ours.drop(columns="epochs"), "online_accuracy").empty


def test_colour_strength_stands_beside_our_own_whatever_its_data():
    """Table 1 of SimCLR as printed, in shares; it is no counterpart of any study of ours."""
    rows = published.beside("color_strength", "linear_accuracy")
    plain = rows[rows["setting"] == ""].pivot(index="color_strength", columns="objective", values="value")
    assert plain["nt_xent"].tolist() == [0.596, 0.610, 0.626, 0.632]
    assert plain["supervised"].tolist() == [0.770, 0.767, 0.765, 0.757] and plain.index.tolist() == [0.125, 0.25, 0.5, 1]
    blurred = rows[rows["setting"] == "with blur"]
    assert blurred["value"].tolist() == [0.645, 0.754]
    assert published.beside("bits", "online_accuracy").empty and published.beside("color_strength", "knn_accuracy").empty
    source = published.sources()["simclr_2020_table1"]
    assert "ImageNet" in source.differs and "0.611 for SimCLR and 0.771" in source.differs


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('columns = ["bits", "value"]\nrows = [[1]]', "x.toml: table.0: rows: row 1 must have 2 entries, got 1"),
        ('columns = ["bitz", "value"]\nrows = []',
         "x.toml: table.0: columns: must be RunSpec fields, value, setting or note, got bitz"),
        ('columns = ["bits"]\nrows = []', "x.toml: table.0: columns: one of them must be 'value'"),
        ('columns = ["value"]\nrows = [[89.9]]',
         "x.toml: table.0: rows: row 1 must have a number as value, an accuracy between 0 and 1, got 89.9"),
    ],
)  # fmt: skip
def test_bad_tables_are_named(tmp_path, table, message):
    (tmp_path / "x.toml").write_text(f'{HEADER}[[table]]\ndataset = "mnist"\nmetric = "knn_accuracy"\n{table}\n')
    with pytest.raises(ValueError) as error:
        published.sources(tmp_path)
    assert str(error.value) == message


def test_no_files_is_an_empty_table(tmp_path):
    assert published.rows(folder=tmp_path).empty
