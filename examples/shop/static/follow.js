// Keeps a page up to date that shows something that is not final: loads it again, and replaces its main part if that has changed.
// Without script, the page loads itself again.
"use strict";

async function update(main) {
  const response = await fetch(location.href, { signal: AbortSignal.timeout(10000) });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const next = page.getElementById("main");
  main.dataset.again = next.dataset.again ?? "";
  const id = next.querySelector("input[name=id]"), shown = main.querySelector("input[name=id]");
  if (id && shown) id.setAttribute("value", shown.value); // of what the form makes: the same, as long as the page is shown
  if (next.innerHTML === main.innerHTML) return;
  const headline = main.querySelector("h1").textContent;
  const focused = main.contains(document.activeElement) ? document.activeElement.id : null;
  main.innerHTML = next.innerHTML;
  document.title = page.title;
  if (focused !== null) (document.getElementById(focused) ?? main).focus({ preventScroll: true });
  const now = main.querySelector("h1").textContent;
  if (now !== headline) document.getElementById("news").textContent = now;
}

(function follow() {
  const main = document.getElementById("main");
  const seconds = Number(main.dataset.again);
  if (!seconds) return;
  setTimeout(async () => {
    if (!document.hidden) await update(main).catch(() => {}); // the shop cannot be reached now
    follow();
  }, 1000 * seconds);
})();
