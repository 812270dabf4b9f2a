import assert from "node:assert/strict"
import test from "node:test"
import { startAsking } from "../console/lib/newest.js"

/** A clock and a server of a test: pass() ends the pause, answer() and fail() end the call that runs. */
const makeWorld = () => {
  let due = null
  const seen = { calls: [], answers: [], errors: [], signal: null }
  const calls = []
  const clock = { setTimeout: turn => ((due = turn), 1), clearTimeout: () => void (due = null) }
  const settle = () => new Promise(done => setImmediate(done))
  const run = (input, signal) => {
    seen.calls.push(input)
    seen.signal = signal
    return new Promise((resolve, reject) => calls.push({ resolve, reject }))
  }
  const asking = startAsking({ run, pause: 5, clock, onAnswer: answer => seen.answers.push(answer), onError: error => seen.errors.push(error.message) })
  const pass = () => {
    const turn = due
    due = null
    turn?.()
  }
  const answer = value => (calls.shift().resolve(value), settle())
  const fail = text => (calls.shift().reject(new Error(text)), settle())
  return { ...asking, seen, pass, answer, fail, isWaiting: () => due !== null }
}

test("only the newest input is asked for, after the pause", async () => {
  const world = makeWorld()
  for (const input of ["a", "ab", "abc"]) world.ask(input)
  assert.deepEqual(world.seen.calls, [])
  world.pass()
  assert.deepEqual(world.seen.calls, ["abc"])
  await world.answer("ABC")
  assert.deepEqual([world.seen.answers, world.isWaiting()], [["ABC"], false])
})

test("an input that comes during a call is asked for after its answer, so answers keep their order", async () => {
  const world = makeWorld()
  world.ask("a")
  world.pass()
  world.ask("ab")
  world.pass()
  world.ask("abc")
  world.pass()
  assert.deepEqual(world.seen.calls, ["a"])
  await world.answer("A")
  assert.deepEqual(world.seen.calls, ["a", "abc"])
  await world.answer("ABC")
  assert.deepEqual(world.seen.answers, ["A", "ABC"])
})

test("an input whose pause is not over waits for it", async () => {
  const world = makeWorld()
  world.ask("a")
  world.pass()
  world.ask("ab")
  await world.answer("A")
  assert.deepEqual(world.seen.calls, ["a"])
  world.pass()
  assert.deepEqual(world.seen.calls, ["a", "ab"])
})

test("a failed call is reported, and the next input is asked for", async () => {
  const world = makeWorld()
  world.ask("a")
  world.pass()
  await world.fail("busy")
  assert.deepEqual([world.seen.errors, world.seen.calls], [["busy"], ["a"]])
  world.ask("ab")
  world.pass()
  await world.answer("AB")
  assert.deepEqual(world.seen.answers, ["AB"])
})

test("an input that is forgotten is not asked for", () => {
  const world = makeWorld()
  world.ask("a")
  world.forget()
  world.pass()
  assert.deepEqual(world.seen.calls, [])
})

test("after its end no answer is reported, and the call is aborted", async () => {
  const world = makeWorld()
  world.ask("a")
  world.pass()
  world.ask("ab")
  world.stop()
  world.pass()
  await world.answer("A")
  assert.deepEqual([world.seen.answers, world.seen.errors, world.seen.calls, world.seen.signal.aborted], [[], [], ["a"], true])
})
