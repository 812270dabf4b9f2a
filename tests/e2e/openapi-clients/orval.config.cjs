module.exports = { muster: { input: "./partner.json", output: { target: "./generated/orval.ts", client: "fetch" } } }
