import assert from "node:assert/strict"
import test from "node:test"
import { startRepeating } from "../console/lib/repeat.js"

/** A page and a clock of a test: tick() runs what is due, and what it starts. */
const makeWorld = () => {
  const page = Object.assign(new EventTarget(), { hidden: false })
  let due = null
  const clock = { setTimeout: turn => ((due = turn), 1), clearTimeout: () => void (due = null) }
  const settle = () => new Promise(done => setImmediate(done))
  const show = hidden => {
    page.hidden = hidden
    page.dispatchEvent(new Event("visibilitychange"))
  }
  const tick = async () => {
    const turn = due
    due = null
    await turn?.()
  }
  return { page, clock, settle, tick, hide: () => show(true), show: () => show(false), isWaiting: () => due !== null }
}

const start = (world, options = {}) => {
  const counts = { runs: 0, ends: 0 }
  const run = async () => {
    counts.runs += 1
    return options.isOn?.() ?? true
  }
  counts.stop = startRepeating({ run, interval: 5, most: 3, onEnd: () => void (counts.ends += 1), page: world.page, clock: world.clock })
  return counts
}

test("a call is repeated a number of times", async () => {
  const world = makeWorld()
  const counts = start(world)
  await world.settle()
  for (let turn = 0; turn < 5; turn++) await world.tick()
  assert.deepEqual([counts.runs, counts.ends, world.isWaiting()], [3, 1, false])
})

test("a hidden tab makes no call, and one at once when it is shown", async () => {
  const world = makeWorld()
  const counts = start(world)
  await world.settle()
  world.hide()
  await world.tick()
  await world.tick()
  assert.equal(counts.runs, 1)
  world.show()
  await world.settle()
  assert.equal(counts.runs, 2)
  world.hide()
  world.show()
  await world.settle()
  assert.equal(counts.runs, 2)
})

test("it ends when the call says so, and when it is stopped", async () => {
  const world = makeWorld()
  const failed = start(world, { isOn: () => false })
  await world.settle()
  assert.deepEqual([failed.runs, failed.ends], [1, 1])
  const stopped = start(world)
  await world.settle()
  stopped.stop()
  world.show()
  await world.tick()
  assert.deepEqual([stopped.runs, stopped.ends], [1, 0])
})
