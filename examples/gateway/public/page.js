/** The page. Texts come from plugins and models, so they are only ever text, never HTML. */
const feed = document.querySelector("#feed");
const post = (path, body) => fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

new EventSource("/events").onmessage = ({ data }) => {
  const { kind, text, id } = JSON.parse(data);
  const item = document.createElement("li");
  item.className = kind;
  item.textContent = text;
  if (kind === "approval")
    for (const [label, allow] of [["Allow", true], ["Deny", false]]) {
      const button = document.createElement("button");
      button.textContent = label;
      button.onclick = () => post(`/approvals/${id}`, { allow });
      item.append(button);
    }
  if (kind === "answered") for (const button of feed.querySelectorAll("li.approval button")) button.disabled = true;
  feed.append(item);
  item.scrollIntoView();
};

document.querySelector("#chat").onsubmit = (event) => {
  event.preventDefault();
  const input = document.querySelector("#text");
  void post("/messages", { text: input.value });
  input.value = "";
};
