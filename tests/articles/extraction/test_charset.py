"""The charset of a page: what its bytes are, not what it says they are."""

import pytest

from articles.extraction.html import decode_page

FRENCH = "L'été dernier, le café de la place a fermé après dix ans."
WRONG_LABELS = ("", "text/html; charset=utf-8", "text/html; charset=no-such-charset")


@pytest.mark.parametrize("label", [*WRONG_LABELS, "text/html; charset=iso-8859-1", "text/html; charset=windows-1257"])
@pytest.mark.parametrize("meta", ["", "<meta charset=windows-1252>", "<meta charset=utf-8>"])
def test_valid_utf_8_is_utf_8(label: str, meta: str) -> None:
    for text in ("Café", FRENCH, "Новый мост", "新しい橋"):
        page = f"{meta}<p>{text}</p>"
        assert decode_page(page.encode(), label) == page
    bad_byte = f"<p>{FRENCH * 9}</p>".encode() + b"\xff"
    assert decode_page(bad_byte, label) == f"<p>{FRENCH * 9}</p>\ufffd"


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
        (
            "cp1257",
            "Vyriausybė pritarė siūlymui keisti įstatymą dėl šeimų paramos ir pensijų didinimo kitais metais.",
        ),
        (
            "cp1254",
            "Başbakan yaptığı açıklamada yeni köprünün gelecek yıl açılacağını ve trafiğin rahatlayacağını söyledi.",
        ),
        ("cp1251", "Министр заявил, что новый мост откроют в следующем году."),
        ("shift_jis", "大臣は、新しい橋が来年開通し、市民の移動がより便利になると述べた。"),
        ("iso2022_jp", "大臣は、新しい橋が来年開通し、市民の移動がより便利になると述べた。"),
    ],
)
def test_other_bytes_are_guessed_where_the_label_is_wrong(encoding: str, text: str) -> None:
    page = f"<html><body><p>{text}</p></body></html>"
    for label in WRONG_LABELS:
        assert decode_page(page.encode(encoding), label) == page
