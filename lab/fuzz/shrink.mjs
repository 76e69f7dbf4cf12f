/**
 * Finds a short history that still ends in the same fault, trying each in a new session. First
 * finds how far back it must reach, then which requests can be left out. Null if the fault does not
 * return.
 */
export async function shrink(history, failing, stillFails, maxTries = 150) {
  let tries = 0
  const fails = async (before) => ++tries <= maxTries && (await stillFails([...before, failing]))

  let kept
  for (let length = 0; kept === undefined; length = length * 2 + 1) {
    const tail = length === 0 ? [] : history.slice(-length)
    if (await fails(tail)) kept = tail
    else if (length >= history.length || tries > maxTries) return null
  }
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let index = 0; index < kept.length; ) {
      const without = [...kept.slice(0, index), ...kept.slice(index + size)]
      if (await fails(without)) kept = without
      else index += size
    }
  }
  return [...kept, failing]
}
