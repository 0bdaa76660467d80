// <moved-anchors>: who comes by an old link to what has moved to another page is taken there.

class MovedAnchors extends HTMLElement {
  connectedCallback() {
    addEventListener("hashchange", () => this.forward());
    this.forward();
  }

  /** Leaves no step in the history that would come back here; ?lang=… goes along. */
  forward() {
    const name = location.hash.slice(1);
    const line = [...this.children].find((child) => child.id === name);
    if (!line) return;
    const to = new URL(line.querySelector("a").href);
    to.search = location.search;
    location.replace(to);
  }
}

customElements.define("moved-anchors", MovedAnchors);
