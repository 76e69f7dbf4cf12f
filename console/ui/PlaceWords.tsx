import { type Coordinates, usePlaceWords } from '../api/placeWords.ts'

/** Where something is, in words, on a line above its coordinates; nothing where there are none. */
export const PlaceWords = ({ id, position }: { id: string; position: Coordinates | null }) => {
  const words = usePlaceWords(id, position)
  return (
    words && (
      <>
        {words}
        <br />
      </>
    )
  )
}
