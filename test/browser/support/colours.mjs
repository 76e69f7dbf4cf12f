/** The colours of a part of a page at points in it, as `#rrggbb`. */
export async function readColours(browser, locator, points) {
  const picture = await locator.screenshot()
  // Another page decodes it: the policy of the console does not let a test do so.
  const reader = await browser.newPage()
  const colours = await reader.evaluate(
    async ({ url, points }) => {
      const bitmap = await createImageBitmap(await (await fetch(url)).blob())
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
      const context = canvas.getContext('2d')
      context.drawImage(bitmap, 0, 0)
      return points.map(([x, y]) => {
        const { data } = context.getImageData(Math.round(x), Math.round(y), 1, 1)
        return `#${[...data.slice(0, 3)].map((one) => one.toString(16).padStart(2, '0')).join('')}`
      })
    },
    { url: `data:image/png;base64,${picture.toString('base64')}`, points },
  )
  await reader.close()
  return colours
}

/** Waits until the points have these colours. */
export async function waitForColours(browser, locator, wanted, timeoutMs) {
  const deadline = Date.now() + timeoutMs
  let seen
  do {
    seen = await readColours(
      browser,
      locator,
      wanted.map(({ at }) => at),
    )
    if (wanted.every(({ colour, isNot }, at) => (seen[at] === colour) !== (isNot ?? false))) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  } while (Date.now() < deadline)
  throw new Error(`the colours are ${seen}, wanted ${JSON.stringify(wanted)}`)
}
