"""The batches of an epoch in their order: trained on, asked for by the loader, not asked for yet.

A loader with workers asks its sampler for batches that the training loop has not had. After a
stop they are lost to a sampler that counts what it gave.
"""

from inside.data.pictures.rows_of_cells import draw_rows


def draw_ahead(rows, total):
    """Picture with a row for each name in `rows`: name -> (batches trained on, batches asked for).

    The first `total` batches of the epoch are drawn.
    """
    told = {name: ((trained, asked - trained, total - asked),
                   f"{trained} trained on, {asked - trained} more asked for")
            for name, (trained, asked) in rows.items()}
    return draw_rows(told, 92, ("深色：训练过；粗框：已要走，还没训练",
                                "shaded: trained on; bold: only asked for"))
