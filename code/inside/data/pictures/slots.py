"""The slots of a loader at several moments: lent to the user, with a worker, idle."""

from inside.data.pictures.rows_of_cells import draw_rows


def draw_slots(rows):
    """Picture with a row for each moment in `rows`: name -> (lent, with a worker, idle), counts."""
    told = {name: (counts, "{} lent, {} with the worker, {} idle".format(*counts))
            for name, counts in rows.items()}
    return draw_rows(told, 70, ("深色：借出；粗框：在工作进程手里；浅框：空闲",
                                "shaded: lent; bold: with the worker; pale: idle"))
