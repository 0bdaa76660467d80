// What every page does besides its language: contents in a drawer, light and dark, the section that
// is being read, a copy button on code, and Tab for what scrolls sideways.
import { follow } from "./page/headings.js";
import { addCopyButtons } from "./page/copy.js";
import { drawer } from "./page/drawer.js";
import { reachable } from "./page/scrolling.js";
import { themes } from "./page/theme.js";

drawer();
themes();
reachable();
follow();
addCopyButtons();
