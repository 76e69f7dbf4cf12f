import { type Coordinates, usePlaceWords } from '../api/placeWords.ts'

/** A place in words on a line above its coordinates; nothing where there are none. */
export const PlaceLine = ({ words }: { words: string | null }) =>
  words && (
    <>
      {words}
      <br />
    </>
  )

/** The same for a position that came without words. */
export const PlaceWords = ({ id, position }: { id: string; position: Coordinates }) => (
  <PlaceLine words={usePlaceWords(id, position)} />
)
