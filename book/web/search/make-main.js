import { make } from "./make.js";

let text = "";
for await (const part of process.stdin) text += part;
process.stdout.write(JSON.stringify(make(JSON.parse(text))));
