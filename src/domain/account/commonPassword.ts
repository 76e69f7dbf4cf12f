/*
 * Common passwords of 12 and more characters are almost always a few common words, rows of the
 * keyboard or numbers in sequence, joined and decorated. So the list has the parts, not the wholes.
 */

const WORDS = `password passwort passwd passw pass word secret letmein welcome login logon signin admin
administrator root user guest master super default changeme change test testing temp temporary demo
example sample qwerty qwertz azerty iloveyou love lovely lover forever baby babygirl princess
sunshine flower angel angels dragon monkey tiger lion eagle wolf bear horse shadow ninja samurai
football baseball basketball soccer hockey liverpool chelsea arsenal barcelona juventus yankees
lakers cowboys superman batman spiderman starwars pokemon naruto minecraft fortnite matrix hunter
killer ranger trustno trustnoone whatever computer internet server system network windows microsoft
google facebook apple samsung android iphone mustang ferrari porsche mercedes harley corvette
michael jordan jennifer jessica ashley daniel andrew thomas robert charlie george william james
david joshua matthew anthony nicole amanda michelle maria anna alex alexander summer winter spring
autumn january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday chocolate cookie cheese pepper ginger
banana orange purple silver golden diamond freedom money million dollar hello goodbye please
thanks friend friends family mother father sister brother mommy daddy jesus christ heaven blessed
london paris berlin madrid lisbon america canada mexico brazil company office business tracker
tracking satellite perigee fleet manager security private access open sesame enter start abc xyz
new old my the is the your i you me it am this no not one for are to a`

const SEQUENCES = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'azertyuiop',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'qazwsxedcrfvtgbyhnujmikolp',
]

const words = new Set(WORDS.split(/\s+/))
const MIN_SEQUENCE = 3
const sequences = SEQUENCES.flatMap((row) => [row, [...row].reverse().join('')])
const LONGEST_PART = Math.max(...SEQUENCES.map(({ length }) => length))

const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}

/** True when a piece of 1 to 6 characters, repeated, makes the whole text. */
const isRepetition = (text: string): boolean =>
  [1, 2, 3, 4, 5, 6].some(
    (size) => text.length >= 2 * size && text.slice(size) === text.slice(0, -size),
  )

/** Digits and signs between the parts. More of them than this are hard enough to guess. */
const MAX_DECORATIONS = 6
const DECORATION = /[\d!-/:-@[-`{-~]/

const isPart = (part: string): boolean =>
  words.has(part) ||
  (part.length >= MIN_SEQUENCE && sequences.some((sequence) => sequence.includes(part)))

/**
 * True when the text is nothing but common parts, end to end, and a few decorations. `plain` is the
 * text with letters in place of their lookalikes.
 */
const isMadeOfParts = (text: string, plain: string): boolean => {
  /** The fewest decorations with which the text up to each place can be made. */
  const fewest = new Array<number>(text.length + 1).fill(Number.POSITIVE_INFINITY)
  fewest[0] = 0
  const reach = (place: number, decorations: number) => {
    fewest[place] = Math.min(fewest[place] ?? decorations, decorations)
  }
  for (let from = 0; from < text.length; from++) {
    const here = fewest[from] ?? Number.POSITIVE_INFINITY
    if (here > MAX_DECORATIONS) continue
    if (DECORATION.test(text[from] ?? '')) reach(from + 1, here + 1)
    for (let to = from + 1; to <= Math.min(text.length, from + LONGEST_PART); to++)
      if (isPart(text.slice(from, to)) || isPart(plain.slice(from, to))) reach(to, here)
  }
  return (fewest[text.length] ?? Number.POSITIVE_INFINITY) <= MAX_DECORATIONS
}

/** Whether a password is one of those that are tried first. */
export const isCommonPassword = (password: string): boolean => {
  const text = password.normalize('NFKC').toLowerCase().replaceAll(/\s/g, '')
  const plain = text.replaceAll(/[@4310!$57]/g, (sign) => LOOKALIKES[sign] ?? sign)
  return isRepetition(text) || isMadeOfParts(text, plain)
}
