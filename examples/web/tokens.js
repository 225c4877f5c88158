/** WordPiece as BERT has it, uncased: from vocab.txt, a token a line. */
export class Tokens {
  #ids;

  constructor(vocabulary) {
    this.#ids = new Map(vocabulary.trimEnd().split("\n").map((token, id) => [token, id]));
  }

  /** Numbers of [CLS], the text's pieces, [SEP]. */
  of(text) {
    const plain = text.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "");
    const words = plain.match(/[^\s\p{P}\p{S}]+|[\p{P}\p{S}]/gu) ?? [];
    return ["[CLS]", ...words.flatMap((word) => this.#pieces(word)), "[SEP]"].map((token) => this.#ids.get(token));
  }

  /** The longest token at each place; [UNK] for a word that has none somewhere. */
  #pieces(word) {
    const out = [];
    for (let at = 0, end; at < word.length; at = end) {
      const mark = at === 0 ? "" : "##";
      for (end = word.length; end > at && !this.#ids.has(mark + word.slice(at, end)); ) end--;
      if (end === at) return ["[UNK]"];
      out.push(mark + word.slice(at, end));
    }
    return out;
  }
}
