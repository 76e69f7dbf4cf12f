const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that XML 1.0 cannot hold, escaped or not
const UNWRITABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

export const xmlText = (text: string): string =>
  text.replaceAll(UNWRITABLE, '').replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)

/** xsd:decimal knows no exponent. */
export const decimal = (value: number): string => {
  const text = String(value)
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text
}
