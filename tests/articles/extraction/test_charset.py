"""The charset of a page: what its bytes are, not what it says they are."""

import pytest

from articles.extraction.extract import extract_article
from articles.extraction.html import decode_page

FRENCH = "L'été dernier, le café de la place a fermé après dix ans."
WRONG_LABELS = ("", "text/html; charset=utf-8", "text/html; charset=no-such-charset")


@pytest.mark.parametrize("label", [*WRONG_LABELS, "text/html; charset=iso-8859-1", "text/html; charset=windows-1257"])
@pytest.mark.parametrize("meta", ["", "<meta charset=windows-1252>", "<meta charset=utf-8>"])
def test_valid_utf_8_is_utf_8(label: str, meta: str) -> None:
    for text in ("Café", FRENCH, "Новый мост", "新しい橋"):
        page = f"{meta}<p>{text}</p>"
        assert decode_page(page.encode(), label) == decode_page(page.encode("utf-8-sig"), label) == page
    assert decode_page(f"<p>{FRENCH * 9}</p>".encode() + b"\xff", label) == f"<p>{FRENCH * 9}</p>\ufffd"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Café"),
        ("cp1252", "The ferry – the last one of the day – left the quay."),
        ("cp1252", "<i>Déjà vu</i>"),
        ("cp1252", FRENCH),
        ("cp1252", "Die Fähre fährt “wieder” über den Rhein – für 3 €."),
        ("cp1250", "Ministr vnitra řekl, že policie případ vyšetřuje už od loňského roku v Praze."),
        ("iso8859_2", "Rząd przyjął w poniedziałek projekt ustawy, która zakłada wyższe świadczenia dla rodzin."),
        ("cp1257", "Vyriausybė pritarė siūlymui keisti įstatymą dėl šeimų paramos ir pensijų didinimo kitais metais."),
        (
            "cp1254",
            "Başbakan yaptığı açıklamada yeni köprünün gelecek yıl açılacağını ve trafiğin rahatlayacağını söyledi.",
        ),
        ("cp1251", "Министр заявил, что новый мост откроют в следующем году."),
        ("shift_jis", "大臣は、新しい橋が来年開通し、市民の移動がより便利になると述べた。"),
        ("iso2022_jp", "大臣は、新しい橋が来年開通し、市民の移動がより便利になると述べた。"),
        ("gb18030", "前往北方岛屿的渡轮将停运至星期一中午，运营公司表示，许多乘客正在港口等候，商店已经打烊。" * 2),
        (
            "euc-kr",
            "북쪽 섬으로 가는 나룻배가 월요일 정오까지 운항하지 않는다고 회사가 밝혔으며 승객들이 기다리고 있다." * 2,
        ),
        ("utf-16-le", FRENCH),
        ("utf-16-be", FRENCH),
    ],
)
def test_other_bytes_are_guessed_where_the_label_is_wrong(encoding: str, text: str) -> None:
    for meta in ("", "<meta charset='utf-8'>"):
        page = f"<html>{meta}<body><p>{text}</p></body></html>"
        for label in WRONG_LABELS:
            assert decode_page(page.encode(encoding), label) == page


def test_a_label_that_fits_is_believed() -> None:
    # Without it, the first would be taken for windows-1252, and the second for nothing.
    greek = "<p>Ο δήμαρχος άνοιξε τη νέα γέφυρα.</p>"
    meta = f"<meta charset='iso-8859-7'>{greek}"
    assert decode_page(meta.encode("iso-8859-7")) == meta
    for encoding in ("iso-8859-7", "utf-16"):
        assert decode_page(greek.encode(encoding), f"text/html; charset={encoding}") == greek
    russian = "Старый паром в последний раз пересёк пролив в пятницу, и половина острова вышла на причал проводить его."
    page = f"<article><p>{russian}</p></article>".encode("cp1251")
    assert extract_article(page, "https://a.example/", "text/html; charset=windows-1251").text == russian
