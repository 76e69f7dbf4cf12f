/**
 * The fewest requests of a history that still end in the same fault, each tried in a world of its own.
 * First how far back it must reach, then which of these can be left out.
 */
export async function shrink(history, failing, stillFails, most = 150) {
  let tries = 0
  const fails = async (before) => ++tries <= most && (await stillFails([...before, failing]))

  let kept
  for (let length = 0; kept === undefined; length = length * 2 + 1) {
    const tail = length === 0 ? [] : history.slice(-length)
    if (await fails(tail)) kept = tail
    else if (length >= history.length || tries > most) return null
  }
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < kept.length; ) {
      const without = [...kept.slice(0, at), ...kept.slice(at + size)]
      if (await fails(without)) kept = without
      else at += size
    }
  }
  return [...kept, failing]
}
