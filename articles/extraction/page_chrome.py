"""Removes the lines around an article's text that its markup does not mark: read-also lines, share bars, sign-ups.

A line is judged as a whole, by its beginning and its length, so that a sentence that only contains such words is kept.
Pure.
"""

import re
from collections.abc import Sequence

from articles.extraction.html import Paragraph
from articles.normalization.text import letters

# Longer paragraphs are prose, however they begin.
MAX_LINE_LETTERS = 250
MAX_LINE_CHARACTERS = 500
# A line with at least this share of linked text leads elsewhere, if it is long enough for a headline.
MIN_LINKED = 0.8
MIN_HEADLINE_LETTERS = 12
# If such lines are a larger share of a text, it is a list that its author wrote.
MAX_LINKED_LINES = 0.5


def _phrases(lines: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(_words(phrase)) for phrase in re.split(r"[|\n]", lines) if phrase.strip())


def _words(text: str) -> list[str]:
    """Return the words without case, every number as 0."""
    text = re.sub(r"\d+", "0", text.replace("’", "'").casefold())
    return re.findall(r"[^\W_][\w'\u0300-\u036f\u0900-\u0fff-]*", text)


# Phrases that announce other articles: alone, before a colon or a dash, or before a link.
_READ_ALSO = _phrases("""
also | also read | also see | read | read also | read more | read next | read this | read on | see also | see more
related | related news | related story | related stories | related article | related articles | related topics
related content | related links | related posts | related coverage | related reading | related roundup | must read
more reading | further reading | recommended reading | more news | more stories | other stories | other news
latest news | top stories | more headlines | more | more from us | more on this | more on this story | in other news
you may like | you may also like | you might like | you might also like | you may be interested in | don't miss
recommended | recommended for you | recommended stories | trending | trending now | most read | most popular
most viewed | what to read next | up next | editor's pick | editor's picks | editors' picks | continue reading
lire aussi | lire également | lire la suite | à lire | à lire aussi | à lire également | voir aussi
sur le même sujet | sur le même thème | lesen sie auch | lesen sie mehr | lesen sie hier | lies auch | auch interessant
mehr zum thema | das könnte sie auch interessieren | lea también | lee también | leer más | lea más | ver también
vea también | mira también | te puede interesar | le puede interesar | noticias relacionadas | leia também | leia mais
veja também | veja mais | saiba mais | notícias relacionadas | leggi anche | guarda anche | potrebbe interessarti
potrebbe interessarti anche | lees ook | zie ook | læs også | läs också | läs mer | läs även | les også | lue myös
czytaj też | czytaj także | czytaj więcej | zobacz też | zobacz także | přečtěte si také | čtěte také | prečítajte si aj
olvasta már | citește și | citiți și | vezi și | baca juga | xem thêm | đọc thêm | ayrıca okuyun | читайте также
читайте ещё | читайте еще | читать далее | читать также | по теме | читайте також | четете още | прочитајте и
pročitajte i | διαβάστε επίσης | διαβάστε ακόμα | اقرأ أيضا | اقرأ أيضاً | اقرأ أيضًا | قد يعجبك | קראו גם | قرأ أيضا
यह भी पढ़ें | ये भी पढ़ें | আরও পড়ুন | あわせて読みたい | 関連記事 | 関連ニュース | 相关阅读 | 相关新闻 | 相关文章 | 相关报道
延伸閱讀 | 相關新聞 | 相關報導 | 관련기사 | 관련 기사 | อ่านเพิ่มเติม | อ่านข่าวอื่น
""")
# Whole lines that are labels of buttons and boxes. 0 is any number.
_LABELS = _phrases("""
post a comment | leave a comment | leave a reply | add a comment | add comment | write a comment | view comments
view all comments | view 0 comments | show comments | read comments | read 0 comments | join the conversation
join the discussion | comment now | comments are closed | comments 0 | 0 comments | 0 comment | no comments
no comments yet | be the first to comment | tell us what you think | advertisement | advertisements | advertising
advertisement continue reading below | advertisement scroll to continue | article continues below
article continues below advertisement | story continues | story continues below | story continues below advertisement
story continues below gallery | continue reading below | sponsored | sponsored content | paid post | promoted
promoted content | text size | font size | image 0 of 0 | photo 0 of 0 | slide 0 of 0 | 0 of 0 | like this
like loading | this slideshow requires javascript | listen to this article | listen to article | play video
back to top | copy link | learn more | click here | view gallery | log in | sign in | sign up | sign up now
subscribe now | register now
weitere informationen | schlagwörter zu diesem artikel | dieses thema im programm | werbung | anzeige | teilen
drucken | kommentar schreiben | kommentare | kommentieren | artikel teilen | publicité
partager | partager cet article | commenter | commentaires | imprimer | publicidad | compartir | comentarios | imprimir
publicidade | compartilhar | compartilhe | comentários | deixe um comentário | pubblicità | condividi | commenti
stampa | reclame | advertentie | delen | reageer | annons | annonse | annonce | dela | reklama | reklam | udostępnij
komentarze | sdílet | hirdetés | publicitate | iklan | bagikan | реклама | поделиться | комментарии | поделитесь
поділитися | коментарі | διαφήμιση | σχόλια | إعلان | شارك | تعليقات | פרסומת | תגובות | विज्ञापन | शेयर करें | শেয়ার করুন
広告 | シェア | シェアする | 广告 | 廣告 | 分享 | 分享到 | 광고 | 공유 | 공유하기 | โฆษณา | แชร์
""")
# Whole lines that are labels, but may also be the first line of an element with the article.
_FIRST_LABELS = _phrases("""
article content | article content continued | story continued below | story saved | read more at
view this post on instagram | a post shared by | view on instagram | view on twitter | show external content
load external content | external content | recommended editorial content | accept and continue | allow and continue
accept cookies | manage cookies | load more | read full article | read the full article | show more | see less
show less | print this article | save article | listen | listen now | watch | watch now | share article
share this article | gift article | gift this article | add to favorites | bookmark | report an error | report a typo
empfohlener redaktioneller inhalt | externer inhalt | externen inhalt anzeigen | externe inhalte anzeigen
inhalt anzeigen | inhalt laden | box aufklappen zuklappen | box aufklappen box zuklappen | artikel anhören
artikel vorlesen | zur startseite | mehr anzeigen | weniger anzeigen | artikel merken | artikel drucken
bild in detailansicht öffnen | bildunterschrift anzeigen | link kopieren | contenu de l'article | contenu externe
afficher le contenu | écouter l'article | offrir l'article | contenido externo | ver contenido | escuchar artículo
escuchar noticia | conteúdo externo | ouvir artigo | contenuto esterno | mostra contenuto | ascolta l'articolo
artikel beluisteren | luister naar dit artikel | externe inhoud | lyssna på artikeln | ekstern innhold
eksternt indhold
""")
# A line of only these words is a share bar if it has a word of the first set.
_SHARE_WORDS = frozenset({
    "share", "tweet", "pin", "pint", "email", "e-mail", "print", "whatsapp", "facebook", "twitter", "telegram",
    "pinterest", "linkedin", "reddit", "flipboard", "messenger", "comment", "comments", "subscribe", "loading",
    "advert", "ad", "ads", "tags",
})  # fmt: skip
_SHARE_HELPERS = frozenset({
    "a", "and", "article", "by", "copy", "follow", "friend", "friends", "google", "in", "like", "link", "log", "more",
    "new", "news", "now", "on", "opens", "or", "page", "post", "register", "reply", "save", "send", "sign", "story",
    "the", "this", "to", "up", "us", "via", "window", "with", "x", "your", "0",
})  # fmt: skip
MAX_SHARE_WORDS = 15
# Beginnings of lines that ask the reader to do something.
_CALL = re.compile(
    r"""[\W_]{0,5}(?:
      (?:sign\ up|subscribe|register|join|get|receive|stay|enter\ your|want|never\ miss)\b(?=.*\b(?:newsletters?|inbox
        |e-?mail\ alerts?|mailing\ list|notifications|breaking\ news\ alerts?|our\ app|news\ app
        |(?:telegram|whatsapp|viber|youtube)\ (?:channel|group|community))\b)
    | (?:please\ )?(?:follow|like|join|find|connect\ with|add|reach)\ .{1,80}?\b(?:on|via)\ (?:our\ )?
        (?:twitter|x|facebook|instagram|youtube|telegram|whatsapp|google\ news|linkedin|threads|tiktok|bluesky)\b
    | share\ (?:this|on|via)\b.{0,60}$ | (?:did\ you\ )?(?:like|enjoy(?:ed)?)\ th(?:is|e)\ (?:story|article)\b
    | (?:click|tap)\ here\ (?:to|for)\b | download\ (?:the|our)\ .{0,30}\bapp\b | have\ (?:a|any)\ (?:news\ )?tips?\b
    | do\ you\ have\ a\ (?:story|news\ tip) | image\ \d+\ of\ \d+
    | (?:we|(?:this|our)\ (?:web)?site)\ uses?\ cookies\b | accept\ (?:all\ )?cookies
    | by\ (?:continuing|using|clicking)\b.{0,80}\bcookies\b | diese\ (?:web)?s(?:eite|ite)\ (?:verwendet|nutzt)\ cookies
    | ce\ site\ utilise\ des\ cookies | est[ea]\ (?:sitio|página|web).{0,12}\ (?:usa|utiliza)\ cookies
    | este\ site\ (?:usa|utiliza)\ cookies | questo\ sito\ (?:usa|utilizza)\ (?:i\ )?cookie
    | deze\ (?:web)?site\ gebruikt\ cookies | этот\ сайт\ использует\ | abonnieren\ sie\b.{0,80}newsletter
    | (?:inscrivez|abonnez)-vous\b.{0,80}(?:newsletter|lettre) | iscriviti\b.{0,80}(?:newsletter|canale)
    | suscríb(?:ete|ase)\b.{0,80}(?:newsletter|boletín|canal) | inscreva-se\b.{0,80}(?:newsletter|canal)
    | (?:подпи(?:шитесь|сывайтесь)|підпи(?:шіться|суйтесь))\s+на\b | (?:siga-nos|síguenos|suivez-nous|seguici)\b
    | folgen\ sie\ uns\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# What a page shows instead of an embedded post or film until the reader agrees to load it.
_CONSENT = re.compile(
    r"""[\W_]{0,5}(?:
      (?:this|the)\ (?:article|page|story|post|content|video|map|embed)\b.{0,60}
        (?:content\ (?:provided|hosted|supplied)\ by|is\ (?:provided|hosted)\ by|external|third[- ]part).{0,200}
        (?:cookies|permission|consent|privacy|loaded|agree|accept|settings)
    | (?:we\ (?:ask\ for|need)\ your\ (?:permission|consent)).{0,120}(?:load|cookies|content)
    | (?:to\ (?:view|see|watch|show|display)|you\ need\ to|please)\b.{0,80}
        (?:accept|allow|enable|agree\ to|consent).{0,60}(?:cookies|content|tracking|javascript|consent)
    | an\ dieser\ stelle\ (?:findest|finden|steht|sehen|befindet|ist)\b.{0,80}\b(?:extern|redakt|inhalt)
    | ich\ bin\ (?:damit\ )?einverstanden,?\ dass\ mir\b
    | (?:damit|dabei|dadurch|hierbei)?\ ?(?:können|werden)?\ ?personenbezogene\ daten\b.{0,80}(?:übermittelt|übertragen)
    | mit\ (?:dem|einem)\ klick\b.{0,120}(?:daten|cookies|inhalt|einwillig|zustimm)
    | (?:um|zum)\b.{0,60}\b(?:inhalt|video|karte|tweet|post)\w*.{0,40}(?:anzu|zu\ (?:sehen|laden)|anzeigen|laden)
        .{0,120}(?:einwillig|zustimm|akzeptier|datenschutz|cookies|daten)
    | (?:wir\ (?:benötigen|brauchen)|hier\ (?:fehlt|benötigen\ wir))\b.{0,60}(?:zustimmung|einwilligung)
    | dieser\ (?:inhalt|beitrag)\b.{0,60}(?:bereitgestellt|extern|cookies|zustimmung|einwilligung)
    | (?:ce|cet|le)\ (?:contenu|tweet|post)\b.{0,80}(?:bloqué|cookies|consentement|traceurs)
    | (?:pour|afin\ de|afin\ d')\ ?(?:afficher|visualiser|consulter|voir)\b.{0,80}(?:contenu|vidéo).{0,120}
        (?:cookies|accept|consent|traceurs|autoris)
    | para\ (?:ver|mostrar|visualizar)\ (?:este|el|o|esse)\b.{0,80}(?:cookies|acept|aceit|consent)
    | este\ (?:contenido|conteúdo)\b.{0,80}(?:cookies|alojado|hospedado|externo|bloque)
    | (?:per\ (?:visualizzare|vedere)|questo\ contenuto)\b.{0,120}(?:cookie|consens|accett|ospitato|esterno)
    | (?:om|voor)\b.{0,40}\b(?:inhoud|content|video)\b.{0,120}(?:cookies|toestemming|accepte)
    | (?:för\ att|for\ at|for\ å)\ (?:se|visa|vise)\b.{0,80}(?:cookies|kakor|informasjonskapsler|samtyck|samtyk|godkänn)
    | (?:aby|pro)\ (?:zobaczyć|wyświetlić|zobrazení)\b.{0,120}(?:cookie|zgod|souhlas|treś|obsah)
    | (?:чтобы|для)\b.{0,40}(?:увидеть|просмотра|посмотреть)\b.{0,120}(?:cookie|согласи|файл)
    | bu\ içeriği\b.{0,80}(?:çerez|izin|kabul)
    | (?:link|zum)\ (?:zum\ )?(?:youtube|instagram|twitter|facebook|tiktok|x)-(?:inhalt|video|beitrag)
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# How long reading takes; "4 min read".
_READ_TIME = re.compile(
    r"""[\W_]{0,5}(?:
      (?:estimated\ )?(?:reading|read)\ time|lesezeit|lesedauer|(?:temps|durée)\ de\ lecture|tiempo\ de\ lectura
      |tempo\ (?:de\ leitura|di\ lettura)|leestijd|lästid|lesetid|læsetid|lukuaika|czas\ czytania|doba\ čtení
      |čas\ čítania
      |okuma\ süresi|время\ (?:чтения|на\ чтение)|час\ (?:читання|на\ читання)|χρόνος\ ανάγνωσης|timp\ de\ citire
      |olvasási\ idő
      |waktu\ baca|temps\ de\ lectura|زمن\ القراءة|مدة\ القراءة|阅读时间|閱讀時間|読了時間
    )[^.!?]{0,30}$
    | [\W_]{0,5}\d{1,3}\W{0,2}(?:-|\ )?(?:min(?:ute)?s?|min\.|minuten|minutos|minuti|minuter|минут\w*|хв)\W{0,3}
      (?:read(?:ing\ time)?|to\ read|lesezeit|de\ lecture|de\ lectura|de\ leitura|di\ lettura
        |leestijd|lästid|lesetid|чтения)\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
# Copyright notices, picture credits, and lists of keywords.
_IMPRINT = re.compile(
    r"""[\W_]{0,5}(?:
      (?:©|\(c\)|copyright\b).{0,80}(?:\b(?:19|20)\d\d\b|all\ rights\ reserved|alle\ rechte|tous\ droits)
    | (?<=©).{0,80}\b(?:19|20)\d\d\b
    | (?:all\ rights\ reserved|alle\ rechte\ vorbehalten|tous\ droits\ réservés|todos\ los\ derechos\ reservados
        |todos\ os\ direitos\ reservados|все\ права\ защищены)
    | (?:photos?|images?|pictures?|pics?|foto(?:s|graf[ií]a)?|photographs?|bild(?:er)?|фото|imagen|imagem|写真|图片
        |圖片|사진)
      (?:\ (?:credits?|source|by|courtesy(?:\ of)?|quelle))?\ ?[:：/©]
    | (?:tags?|filed\ under|topics?|keywords?|categor(?:y|ies)|posted\ in|schlagwörter|étiquettes|etiquetas|теги|метки)
      \ ?[:：]
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_AFTER_HEAD = re.compile(r"\s*(?P<sign>[:：|>»›]|\s[–—-]\s|\.{3}|…)")


MAX_TIME_CHARACTERS = 80
_NAME = r"[^\W\d_a-zà-ÿа-я][\w.'’-]+"
_BYLINE = re.compile(
    rf"(?:By|BY|Von|von|Par|Por|Di|Door|Av|Af|Text|Written by|Reporting by|Автор)\b:? {_NAME}"
    rf"(?: (?:de |van |von |der |da )*{_NAME}){{1,3}}"
    rf"(?:(?:,| and| und| et| y| e| en| og| och| &) {_NAME}(?: {_NAME}){{1,3}}){{0,3}}"
)
# Words that say of a time that it is the article's; other times may be a heading of a live blog.
_TIME_LABELS = frozenset({
    "published", "updated", "posted", "modified", "stand", "aktualisiert", "veröffentlicht", "erstellt", "publié",
    "jour", "modifié", "publicado", "publicada", "actualizado", "actualizada", "atualizado", "atualizada",
    "pubblicato", "aggiornato", "gepubliceerd", "bijgewerkt", "publicerad", "uppdaterad", "publisert", "oppdatert",
    "opdateret", "udgivet", "julkaistu", "päivitetty", "opublikowano", "aktualizacja", "aktualizováno", "publikováno",
    "güncelleme", "yayınlanma", "опубликовано", "обновлено", "оновлено", "опубліковано",
})  # fmt: skip
_TIME_WORD = re.compile(
    r"0(?:st|nd|rd|th|er|h|am|pm)?|published|updated|posted|modified|last|first|on|at|am|pm|a|m|p|gmt|utc|ist|est|edt|pst|pdt|cet"
    r"|cest|bst|min|mins|minutes?|hours?|days?|ago|read|uhr|um|de|à|às|le|am|den|il|alle|ore|h"
    r"|(?:jan|feb|f[eé]v|mar|mär|apr|avr|abr|ma[iygj]|ju[inl]|gi?u|lug|aug|ago|ao[uû]|sep|set|o[ck]t|out|nov|de[cz]|d[eé]c|dic)\w*"
    r"|(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lu|mar|mer|mié|jue|jeu|vie|ven|s[aá]b|dom|dim|seg|ter|qua|qui|sex)"
    r"\w*(?:-feira)?",
)


def without_page_chrome(parts: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs without page chrome, the lines that are not part of the article."""
    total = sum(letters(part.text) for part in parts)
    leading_away = sum(letters(part.text) for part in parts if part.linked >= MIN_LINKED)
    listing = leading_away > MAX_LINKED_LINES * total
    return [part for part in parts if not is_page_chrome(part, listing=listing)]


def is_page_chrome(part: Paragraph, *, listing: bool = False) -> bool:
    """Return whether the line is not part of the article; in a `listing`, lines that are links are."""
    text = part.text
    if len(text) > MAX_LINE_CHARACTERS:
        return False
    if _CONSENT.match(text):
        return True
    if letters(text) > MAX_LINE_LETTERS:
        return False
    if not listing and _leads_away(part):
        return True
    words = _words(text)
    return (
        tuple(words) in _LABELS
        or tuple(words) in _FIRST_LABELS
        or _is_share_bar(text, words)
        or _announces(part, words)
        or bool(_CALL.match(text) or _IMPRINT.match(text) or _READ_TIME.match(text))
        or (any(word in _TIME_LABELS for word in words) and is_time(text))
    )


def is_announcement(text: str) -> bool:
    """Return whether the line is the heading of a box with other articles or with readers' comments."""
    words = tuple(_words(text))
    return words in _READ_ALSO or words in _LABELS


def is_time(text: str) -> bool:
    """Return whether the line only says when the article was published."""
    if len(text) > MAX_TIME_CHARACTERS or not any(map(str.isdigit, text)):
        return False
    return all(word in _TIME_LABELS or _TIME_WORD.fullmatch(word) for word in _words(text))


def is_byline(part: Paragraph) -> bool:
    """Return whether the line only says who wrote the article."""
    return not part.heading and len(part.text) <= MAX_TIME_CHARACTERS and bool(_BYLINE.fullmatch(part.text))


def _leads_away(part: Paragraph) -> bool:
    """Return whether the line is a link to another page. A URL that is written out is not."""
    text = part.text
    written_out = " " not in text and text.isascii()
    return part.linked >= MIN_LINKED and not part.heading and letters(text) >= MIN_HEADLINE_LETTERS and not written_out


def _is_share_bar(text: str, words: Sequence[str]) -> bool:
    sentence = text.endswith(".") and len(words) > 3
    return (
        len(words) <= MAX_SHARE_WORDS
        and not sentence
        and any(word in _SHARE_WORDS for word in words)
        and all(word in _SHARE_WORDS or word in _SHARE_HELPERS for word in words)
    )


def _announces(part: Paragraph, words: Sequence[str]) -> bool:
    """Return whether the line announces other articles."""
    if tuple(words) in _READ_ALSO:
        return True
    if part.linked >= MIN_LINKED / 2 and any(tuple(words[:length]) in _READ_ALSO for length in range(1, 6)):
        return True
    if (sign := _AFTER_HEAD.search(part.text)) is None:
        return False
    head = _words(part.text[: sign.start()])
    if tuple(head) in _READ_ALSO:
        return True
    # "Read also on this:", but not "Read the letter here:"
    return sign["sign"] in ":：" and any(
        tuple(head[:length]) in _READ_ALSO for length in range(max(2, len(head) - 3), 6)
    )
