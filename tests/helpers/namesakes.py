"""Controls of a page that are called alike, though each leads to a place of its own or does a thing
of its own.

Who cannot see the page hears the name of a control, and on the way to it the names of the groups
that it stands in: a card by its question, a prediction by its number. A link in a paragraph is
heard in its sentence, which says where it leads, so that two of them may be called alike. Names and
groups are those that the browser tells a screen reader.
"""

from collections import defaultdict

CONTROLS = {"button", "checkbox", "combobox", "DisclosureTriangle", "link", "menuitem", "radio",
            "searchbox", "slider", "spinbutton", "switch", "tab", "textbox"}
PARTS = {"code", "emphasis", "generic", "strong"}
GROUPS = {"article", "dialog", "form", "group", "navigation", "radiogroup", "region", "toolbar"}


def of(cdp):
    """Each name that several controls have, with the groups around them and how many they are;
    links to one address are one. `cdp` is a session with the page."""
    nodes = {node["nodeId"]: node for node in cdp.send("Accessibility.getFullAXTree")["nodes"]}
    found = defaultdict(set)
    for node in nodes.values():
        if told(node, "role") in CONTROLS and told(node, "name") and not in_a_sentence(node, nodes):
            found[(*groups(node, nodes), told(node, "name"))].add(place(node))
    return [f"{len(places)} controls are called `{' › '.join(name)}`"
            for name, places in found.items() if len(places) > 1]


def told(node, what):
    """A role, or a name without the spaces around it; empty for what is not told at all."""
    return "" if node["ignored"] else node.get(what, {}).get("value", "").strip()


def groups(node, nodes):
    """The names of the groups that hold a node, the outermost first."""
    found = []
    while (node := nodes.get(node.get("parentId"))) is not None:
        if told(node, "role") in GROUPS and told(node, "name"):
            found.insert(0, told(node, "name"))
    return found


def in_a_sentence(node, nodes):
    """Whether a node is a link in a paragraph, or in a part of one."""
    if told(node, "role") != "link":
        return False
    above = nodes.get(node.get("parentId"))
    while above and (above["ignored"] or told(above, "role") in PARTS):
        above = nodes.get(above.get("parentId"))
    return bool(above) and told(above, "role") == "paragraph"


def place(node):
    """Where a link leads; of what is no link, the node itself."""
    return next((one["value"]["value"] for one in node.get("properties", [])
                 if one["name"] == "url"), node["nodeId"])
