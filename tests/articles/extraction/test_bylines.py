"""Datelines, agencies and authors, in bylines and in prose. No network, no database."""

import pytest

from articles.extraction.bylines import Bylines, page_bylines, text_bylines, without_byline


@pytest.mark.parametrize(
    ("text", "agency", "dateline"),
    [
        ("VESTBY, March 3 (Reuters) - The port reopened.", "Reuters", "VESTBY, March 3"),
        ("VESTBY, Norland, March 3, 2024 (Reuters) -- The port reopened.", "Reuters", "VESTBY, Norland, March 3, 2024"),
        ("Vestby, Nov. 4 (PTI): The port reopened.", "PTI", "Vestby, Nov. 4"),
        ("Vestby, Nov 4 (PTI) The port reopened.", "PTI", "Vestby, Nov 4"),
        ("Vestby (AFP) — The port reopened.", "AFP", "Vestby"),
        ("VESTBY (AP) The port reopened.", "AP", "VESTBY"),
        ("Vestby (dpa/nrd) - Der Hafen ist wieder offen.", "dpa", "Vestby"),
        ("VESTBY, 3 March (Xinhua) -- The port reopened.", "Xinhua", "VESTBY, 3 March"),
        ("VESTBY, 5 mar (EFE).- El puerto abrió de nuevo.", "EFE", "VESTBY, 5 mar"),
        ("(Reuters) - The port reopened.", "Reuters", ""),
        ("[AFP] – The port reopened.", "AFP", ""),
        ("AFP: The port reopened.", "AFP", ""),
        ("Vestby, March 3, PTI - The port reopened.", "PTI", "Vestby, March 3"),
        ("新华社北京3月5日电 港口重新开放。", "Xinhua", "北京3月5日"),
        ("(서울=연합뉴스) 항구가 다시 열렸다.", "Yonhap", "서울"),
        ("МОСКВА, 5 марта. /ТАСС/. Порт снова открыт.", "TASS", "МОСКВА, 5 марта"),
        ("The port reopened.\n\n(AFP)", "AFP", ""),
        ("The port reopened. (Source: Reuters)", "Reuters", ""),
        ("The port reopened. – AFP", "AFP", ""),
        ("“The port is open,” she said. -PTI", "PTI", ""),
        ("The port reopened.\n\nAssociated Press", "AP", ""),
        ("The port reopened.\n\n© 2024 AFP", "AFP", ""),
        ("The port reopened.\n\n(Reporting by Liv Dahl; Editing by Tom Berg)", "Reuters", ""),
        ("VESTBY, March 3 - The port reopened.", "", "VESTBY, March 3"),
        ("Vestby, 12.03.2024 - Le port est ouvert.", "", "Vestby, 12.03.2024"),
        ("Vestby, le port: rien.", "", ""),
        ("VESTBY – The port reopened.", "", "VESTBY"),
        ("VESTBY (Fjord 1); The port reopened.", "", "VESTBY"),
    ],
)  # fmt: skip
def test_datelines_and_agencies_are_found_in_all_their_usual_forms(text: str, agency: str, dateline: str) -> None:
    assert text_bylines(text) == Bylines(agency=agency, dateline=dateline)


@pytest.mark.parametrize(
    "text",
    [
        "Reuters reported on Tuesday that the port had reopened.",
        "The port reopened, Reuters said. Nobody was hurt.",
        "According to AFP, the port reopened. It had been closed for a week.",
        "The Northern Fishing Squad (ATS) is preparing to visit the port and to count the boats there.",
        "India’s Unified Payment Interface (UPI) is used in the port.",
        "AP English teachers met on Monday - and on Tuesday too.",
        "The PA announcements in the port - loud as ever - stopped at noon.",
        "Vestby, a town of nine thousand: the port reopened.",
        "The port reopened. It is the work of the AP",
        "UPDATE – The port reopened.",
        "I - and I alone - opened the port.",
    ],
)
def test_a_sentence_with_an_agency_or_a_dash_has_no_byline(text: str) -> None:
    assert text_bylines(text) == Bylines()


def test_the_newspaper_before_the_first_sentence_is_not_a_place() -> None:
    text = "FJORDBLADET – The port reopened."
    assert text_bylines(text).dateline == "FJORDBLADET"
    assert text_bylines(text, ["Fjordbladet", "fjordbladet.example"]) == Bylines()


def test_a_first_line_of_authors_is_the_byline() -> None:
    found = text_bylines("By Liv Dahl and Tom van Berg\n\nVESTBY – The port reopened.")
    assert found == Bylines(byline="Liv Dahl, Tom van Berg", dateline="VESTBY")
    assert text_bylines("By closing the port in that manner\nthe town lost a week.") == Bylines()


@pytest.mark.parametrize(
    ("authors", "byline"),
    [
        (["By Liv Dahl"], "Liv Dahl"),
        (["LIV DAHL and TOM BERG"], "LIV DAHL, TOM BERG"),
        (["Liv Dahl", "Tom Berg", "Liv Dahl"], "Liv Dahl, Tom Berg"),
        (["Von Liv Dahl"], "Liv Dahl"),
        (["Liv Dahl | Fjordbladet"], "Liv Dahl"),
        (["Fjordbladet", "", "Liv Dahl"], "Liv Dahl"),
        (["Liv Dahl", "", "Somebody Else"], "Liv Dahl"),
        (["admin"], ""),
        (["Staff Reporter"], "Staff Reporter"),
        (["Staff Reporter", "", "Liv Dahl"], "Liv Dahl"),
        (["Fjordbladet", "", "red, Fjordbladet/Agenturen"], "Fjordbladet"),
        (["fjb/lid;tbe"], "fjb/lid, tbe"),
        (["Liv Dahl/Tom Berg"], "Liv Dahl, Tom Berg"),
        (["Liv Dahl y Tom Berg"], "Liv Dahl, Tom Berg"),
        (["Лив Даль и Том Берг"], "Лив Даль, Том Берг"),
        (["Liv Dahl in Vestby", "Tom Berg (Fjordbladet)"], "Liv Dahl, Tom Berg"),
        (["Liv Dahl, Political Correspondent", "Tom Berg, PhD"], "Liv Dahl, Tom Berg"),
        (["Liv Dahl – Vestby", "Tom Berg | Reporter"], "Liv Dahl, Tom Berg"),
        (["Reporter: Liv Dahl"], "Liv Dahl"),
        (["Political Correspondent"], "Political Correspondent"),
        (["文/陈海"], "陈海"),
        (["김바다 기자 sea@fjordbladet.example"], "김바다"),
        (["Liv Dahl, March 3, 2024 10:15"], "Liv Dahl"),
        (["liv.dahl@fjordbladet.example"], ""),
        (["https://fjordbladet.example/liv"], ""),
        (["Reuters"], "Reuters"),
        (["Fjordbladet", "", "Reuters"], "Reuters"),
        (["Liv Dahl, AP Business Writer"], "Liv Dahl"),
        (
            [f"{'Liv ' + 'D' * 70}, {'Tom ' + 'B' * n}" for n in range(66, 74)],
            ", ".join([f"Liv {'D' * 70}"] + [f"Tom {'B' * n}" for n in range(66, 71)]),
        ),
        ([], ""),
    ],
)
def test_a_byline_has_only_names(authors: list[str], byline: str) -> None:
    assert page_bylines("The port reopened.", authors, ["Fjordbladet"]).byline == byline


def test_an_agency_may_be_the_author() -> None:
    assert page_bylines("The port reopened.", ["Reuters Staff"], []) == Bylines("Reuters Staff", "Reuters")
    assert page_bylines("The port reopened.", ["Liv Dahl, AP Sports Writer"], []) == Bylines("Liv Dahl", "AP")
    assert page_bylines("The port reopened.", [], ["Reuters"]) == Bylines(agency="Reuters")


def test_a_line_that_repeats_the_authors_is_not_part_of_the_text() -> None:
    text = "The port reopened.\n\nBy Liv Dahl and Tom Berg\n\nA boat came in.\n\nTom Berg\n\nLiv Dahl"
    assert without_byline(text, "Liv Dahl, Tom Berg") == text.replace("By Liv Dahl and Tom Berg\n\n", "")
    assert without_byline(text, "Fjordbladet") == text
    assert without_byline("Liv Dahl", "Liv Dahl") == "Liv Dahl"
    # The dateline is the first line without it.
    found = page_bylines("Liv Dahl\n\nVESTBY, March 3 (AFP) – The port reopened.", ["Liv Dahl"], [])
    assert found == Bylines("Liv Dahl", "AFP", "VESTBY, March 3")
