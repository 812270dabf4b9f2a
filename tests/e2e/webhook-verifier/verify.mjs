// Verifies webhooks with an independent Standard Webhooks library; support/verifier.py installs and runs it.
// stdin: JSON lines {secret, headers, body, now?}; now: the time, in seconds, that the clock is set to.
// stdout: one line each: "ok", or the error of the library.
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

const realNow = Date.now;

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, headers, body, now } = JSON.parse(line);
  Date.now = now === undefined ? realNow : () => now * 1000;
  try {
    new Webhook(secret).verify(body, headers);
    console.log("ok");
  } catch (error) {
    console.log(String(error.message).replaceAll("\n", " "));
  }
}
