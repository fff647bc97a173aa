"""Decides which query parameters identify a story, and which only track who linked to it.

TRACKERS are parameters that programs append to a URL when it is shared, sent or advertised; none of them names a story.
Each group names its source: who sets the parameters, and where that is documented. A name belongs there only if it is
documented, or is too odd to be chosen for a story's number; for short and common words, the whole URL is looked at.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import courlan

# Patterns of lower-case names, by source.
TRACKERS: dict[str, str] = {
    "Google Analytics, custom campaigns, and programs that took over its names": "utm_.+|ga_(?:source|medium|term"
    "|content|campaign|place)|_ga|_gl",
    "Google News, access to articles of subscribers (Extended Access)": "gaa_(?:at|n|ts|sig)",
    "Google Ads, auto-tagging, and Google Merchant Center": "gclid|gclsrc|dclid|gbraid|wbraid|gad_source|gad_campaignid"
    "|gps_adid|srsltid",
    "Google AMP, documentation of the viewer and the cache": "amp_js_v|amp_gsa|amp_latest_update_time|usqp",
    "Facebook and Instagram, link parameters of shared posts": "fbclid|fb_action_ids|fb_action_types|fb_source|fb_ref"
    "|fbc_?lid|action_object_map|action_type_map|action_ref_map|fsrc_fb_noscript|mibextid|igshid|igsh|sfnsn"
    "|__cft__.*|__tn__|_rdr|_rdc",
    "X, ads, embedded posts and shared links": "twclid|__twitter_impression|ref_src|ref_url|twc_?lid",
    "TikTok, Reddit, Pinterest, Snapchat and LinkedIn, click ids of ads": "ttclid|tt_medium|tt_content|rdt_cid"
    "|epik|sccid|li_fat_id|trk_contact|trk_msg|trk_module|trk_sid",
    "Microsoft Advertising, MSN and Bing": "msclkid|ocid|cvid",
    "Yahoo and AOL, consent and shared links": r"guccounter|guce_referr?er(?:_us|_sig|_cs)?|soc_src|soc_trk|tsrc|\.tsrc"
    "|yc_?lid|ysc_?lid|yclid|ysclid",
    "Yandex Metrica": "_openstat|yadclid|yadordid|ymclid",
    "Matomo (earlier Piwik), campaign tracking": "(?:pk|mtm|piwik|matomo)_(?:campaign|kwd|keyword|source|medium|content"
    "|group|placement|cpn)|mtm_cid",
    "Magento, Adobe and others, internal campaigns": "itm_(?:source|medium|campaign|content|term|channel|audience)"
    "|int_?cmp|int_?cid_?cmp|icid",
    "Adobe Analytics and Adobe Advertising": "cmp|cmpid|s_kwcid|ef_id|adobe_mc|adobe_mc_ref|adobe_mc_sdid",
    "Piano Analytics (earlier AT Internet, XiTi), campaigns": r"at_(?:custom\d+|medium|campaign|campaign_type|variant"
    r"|network|term|creation|channel|format|platform|general_placement|detail_placement|send_date|recipient_id"
    r"|recipient_list|email_type|emailtype|link_id|link_type|link_origin|ptr_name|bbc_team|format_link|xt)"
    "|xtor|xtref|xtcr|xtmc|xtnp|xts|xtatc",
    "Webtrends and Mapp Intelligence, campaigns": r"wt[._](?:mc|mc_id|mc_ev|zmc|z_mc|z_sma|tsrc|nav|srch)",
    "comScore Digital Analytix, campaigns": "ns_(?:mchannel|campaign|source|linkname|fee)",
    "Mailchimp": "mc_cid|mc_eid",
    "HubSpot": "_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking|hsa_(?:acc|ad|cam|grp|kw|mt|net|src|tgt|ver|la|ol)",
    "Marketo": "mkt_tok|mkt_(?:source|medium|campaign|unsubscribe)",
    "Vero": "vero_id|vero_conv",
    "Omeda (Olytics)": "oly_enc_id|oly_anon_id",
    "Silverpop (now Acoustic), mailings": "spmailingid|spuserid|spjobid|spreportid",
    "Condé Nast, mailings": "bxid|cndid|esrc|mbid",
    "Drip, Klaviyo, Bronto, Dotdigital, MailerLite, ConvertKit and ActiveCampaign, mailings": "__s|_ke|_kx|_bta_tid"
    "|_bta_c|dm_i|dm_t|ml_subscriber|ml_subscriber_hash|ck_subscriber_id|vgo_ee",
    "Echobox and Hootsuite, posts to social networks": "echobox|hootpostid",
    "Branch and Adjust, links of apps": "_branch_match_id|_branch_referrer|adjust_(?:t|tracker|campaign|adgroup"
    "|creative|referrer)",
    "Alibaba, the super position model": "spm|scm",
    "eBay, Awin, CJ, Impact, ShareASale and TradeDoubler, affiliate links": "mkcid|mkrid|mkevt|awc|cjevent|irclickid"
    "|irgwc|sscid|tduid|zanpid",
    "Google Search, links of its results": "ved|usg|sxsrf|gs_lcr?p|gs_ssp|gws_rd",
    "Oracle Eloqua, mailings": "elq|elqtrackid|elqtrack|elqaid|elqat|elqcampaignid|elqcsid|elqcst",
    "LinkedIn, links of its pages": "trkinfo|trkcampaign|lipi|licu",
    "The Washington Post, Financial Times and CBS, shared links and mailings": "wpisrc|wpmm|sharetype|ftag",
    "Piano and Cxense, tests of pages": "cx_(?:testid|testvariant|artpos|tag|navsource|experienceid|recs_click)",
    "Adobe Social and SocialFlow, posts to social networks": r"adbid|adbpl|adbpr|sf\d{6,}",
    "NGP VAN, mailings": "emci|emdi",
    "Rakuten, Impact, Alibaba and Microsoft, clicks": "rb_clickid|ir_clickid|algo_pvid|algo_expid|msockid",
    "Wikipedia and WordPress, shared pages and answers to comments": "wprov|sr_share|replytocom",
    "Yahoo, links between its sites": "yptr",
    "Taboola and Outbrain": "tblci|tblcid|dicbo|oborigurl|obclickid",
    "AddThis, Wicked Reports and The Economist": "sms_ss|wickedid|fsrc",
    "No documentation is public; seen in links that newspapers share": "smc|hmb_.+",
    "WordPress and FeedBurner, feeds": "wprss|feedname|feedtype|custom_click",
    "Pages for phones, and the switch away from them": "skip_?mobile|altcast_code",
}
# PHP, Java, ASP, ColdFusion and shop programs: documentation of their sessions without cookies.
_SESSIONS = (
    r"phpsess(?:ion)?id|jsessionid|aspsessionid\w*|asp\.net_sessionid|cftoken|oscsid|zenid|xtcsid|sessionid"
    "|session_id|session-id|sessid|sess_id"
)
_TRACKER = re.compile("|".join((*TRACKERS.values(), _SESSIONS)))
_SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsess(?:ion)?id|sess(?:ion)?_?id|sid)[=:!][^/;]*"
    # ASP.NET without cookies: /(S(lit3py55t21z5v55vlm25s55))/story.aspx
    r"|/(?:\(|%28)(?:[asf](?:\(|%28)[a-z0-9_-]+(?:\)|%29))+(?:\)|%29)(?=/)",
    re.IGNORECASE,
)
# As long as the ids that PHP, Java and .NET make, which have 22 characters or more.
_RANDOM = re.compile(r"(?=[^0-9]*[0-9][^0-9]*[0-9])(?=.*[a-z])[0-9a-z_-]{20,}", re.IGNORECASE)


def is_tracker(name: str) -> bool:
    """Return whether a parameter of this lower-case name only tracks who linked to the page, on every site."""
    return _TRACKER.fullmatch(name) is not None


def without_session(path: str) -> str:
    """Return a path without the session that servers write into it for browsers without cookies."""
    return _SESSION_IN_PATH.sub("", path) if ";" in path or "(" in path or "%28" in path else path


def is_random(value: str) -> bool:
    """Return whether a value looks like a session's: long, of letters and digits, without words."""
    return _RANDOM.fullmatch(value) is not None


# Decoration on most sites, the story's number on some; this includes any name that begins with an underscore.
_AMBIGUOUS = re.compile("sort|cid|s_cid|sid|ncid|ir|session|sess|_.*|(?:pk|mkt|mtm|itm|ga|at|hsa)_.*")
# Names of what led to the page: its value is a number on few sites.
_REFERRER = re.compile(
    "ito|[oe]?ref|refer|referr?er|ref_?src|ref_?link|ref_?type|source|src|from|via|share|shared|partner"
)
# Names of a story's number in the addresses of content management systems.
_OF_STORY = re.compile(
    r"p|pk|nr|no|num|.*_?id|.*noticia|.*nota|.*stor(?:y|ies)|.*article|.*artikel|.*articulo|art|.*news|item|post|doc|slug"
)
_SESSION = re.compile("sid|s|sess|session|cfid|token|auth")
# A word or two, such as rss or home-top: neither a number nor the title of a story.
_LABEL = re.compile(r"[a-z]{0,20}(?:[-_.][a-z]{1,20})?", re.IGNORECASE)
_OF_SITE = {
    "facebook.com": re.compile("ref|fref|hc_location"),
    "nytimes.com": re.compile(r"emc|partner|_r|hp|inline|smid|wt\.z_sma|bicmp|bicmlukp|bicmst|bicmet|abt|abg"),
    "wsj.com": re.compile("mod|reflink|st"),
    "marketwatch.com": re.compile("mod|reflink"),
    "barrons.com": re.compile("mod|reflink"),
    "twitter.com": re.compile("s|t|cn|refsrc"),
    "x.com": re.compile("s|t|cn|refsrc"),
    "linkedin.com": re.compile("trk|trackingid|refid"),
    "livejournal.com": re.compile("thread|nojs"),
    "google": re.compile("gws_rd|ei"),
}
_OF_NO_SITE = re.compile(r"(?!)")
# Parameters that select a form of the page: AMP, for printing, and the hash that Australian newspapers append.
_OF_NO_STORY = re.compile(
    "(?:amp|print|printable)(?:=1|=true|=yes)?|(?:output|outputtype|format)=amp|(?:m|mobile)=(?:1|true|yes)"
    "|(?:view|page)=print|tmpl=component|nk=[0-9a-f]+"
)

_WORD_BREAK = re.compile("[-_+.,~]|%20")
_NUMBER = re.compile(r"\d{4,}")
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d(?:\d\d){0,2}")
_MIXED_NUMBER = re.compile(r"(?<![a-z])(?:[a-z]++\d++){3}|(?<!\d)(?:\d++[a-z]++){3}")
# A script shows the story that a parameter names, whatever words its own name has.
_SCRIPT = re.compile(r"\.(?:aspx?|ashx|php\d?|phtml|jspx?|jsf|cfml?|cgi|pl|do|dll|action|nsf|exe)\Z")
# Words in the names of scripts and sections, not of stories.
_GENERIC_WORD = re.compile(
    "articles?|aspx?|blogs?|breaking|category|cfm|cgi|center|content|default|details?|display|do|document|full|get"
    "|home|html?|index|item|jsp|latest|list|media|more|news|newsroom|of|page|php|popup|posts?|press|print|read"
    "|releases?|room|section|show|shtml|single|story|stories|the|top|video|view|xhtml"
    # Spanish, Portuguese, Italian, French
    "|noticias?|notas?|ver|leer|completa|completo|detalles?|art[ií]culos?|artigos?|p[aá]gina|ultimas?|de|del|la|las|el|los"
    "|mat[eé]rias?|ler|mostrar|exibir|da|do|dos|das|articol[oi]|notizi[ae]|leggi|dettaglio|scheda|di|il|actualit[eé]s?"
    "|lire|voir|suite|le|les|une?|du|complet|br[eè]ves?"
    # German, Dutch, the languages of the North, Polish, Czech, Turkish, Russian
    "|artikel|nachricht(?:en)?|meldung(?:en)?|seite|lesen|anzeigen?|ansicht|aktuell(?:es)?|der|die|das|zum|zur|bericht(?:en)?"
    "|nieuws|lees|nyhet(?:er)?|artikkel|nyheter|vis|les|artyku[lł]|wiadomosci|czytaj|clanek|zprav[ay]|haber(?:ler)?|oku"
    "|detay|novosti?|statya"
)


class Parameter(NamedTuple):
    """A part of a query, name=value, and whether it is dropped."""

    text: str
    name: str  # in lower case
    dropped: bool


def read_parameters(site: str, path: str, query: str, kept: Collection[str] = ()) -> Iterator[Parameter]:
    """Yield the parameters of a query; those in `kept`, in lower case, are not dropped.

    Parameters without a name are left out, and an empty value counts as no value.
    """
    dropped_here = _OF_SITE.get(site, _OF_NO_SITE)
    found: list[Parameter] = []
    for part in query.split("&"):
        text = part.rstrip("=")
        lower = text.lower()
        name = lower.partition("=")[0]
        if name:
            is_known = is_tracker(name) or dropped_here.fullmatch(name) or _OF_NO_STORY.fullmatch(lower)
            found.append(Parameter(text, name, bool(is_known) and name not in kept))
    yield from _without_doubtful(path, found, kept)


def untracked_query(path: str, query: str, kept: Collection[str] = ()) -> str:
    """Return the query, sorted, without parameters that name no story on any site, and without sessions."""
    parts = []
    for parameter in read_parameters("", path, query, kept) if query else ():
        is_session = _SESSION.fullmatch(parameter.name) is not None and is_random(parameter.text.partition("=")[2])
        if not (parameter.dropped and (is_tracker(parameter.name) or is_session)):
            parts.append(parameter.text)
    return "&".join(sorted(set(parts)))


def names_a_story(path: str) -> bool:
    """Return whether the path alone identifies a story: its last part has three words, or a number other than a date.

    Only then may a parameter that could be the story's number be dropped: only sid identifies story?sid=123. The words
    of a script's name do not count.
    """
    last = path.rstrip("/").rpartition("/")[2].lower()
    if any(not _YEAR_OR_DATE.fullmatch(number) for number in _NUMBER.findall(last)) or _MIXED_NUMBER.search(last):
        return True
    return _has_words(last) and not _SCRIPT.search(last)


def _has_words(last: str) -> bool:
    words = [word for word in _WORD_BREAK.split(last) if len(word) > 1 and not word.isdecimal()]
    return sum(not _GENERIC_WORD.fullmatch(word) for word in words) >= 3


def _without_doubtful(path: str, found: Sequence[Parameter], kept: Collection[str]) -> Iterator[Parameter]:
    """Yield the parameters; those that may name a story are dropped only if something else names it."""
    left = (parameter.name for parameter in found if not parameter.dropped and parameter.name not in kept)
    doubtful = {name for name in left if _is_ambiguous(name) or _SESSION.fullmatch(name)}
    if not doubtful:
        yield from found
        return
    last = path.rstrip("/").rpartition("/")[2].lower()
    by_path, by_words = names_a_story(path), _has_words(last)
    by_number = any(not parameter.dropped and _OF_STORY.fullmatch(parameter.name) for parameter in found)
    for parameter in found:
        if parameter.name in doubtful:
            dropped = _is_decoration(parameter, by_path=by_path, by_words=by_words, by_number=by_number)
            yield parameter._replace(dropped=dropped)
        else:
            yield parameter


def _is_decoration(parameter: Parameter, *, by_path: bool, by_words: bool, by_number: bool) -> bool:
    """Return whether a doubtful parameter names no story, which something else may name.

    That is the path, at least the words of a script's name, or a parameter for a story's number.
    """
    value = parameter.text.partition("=")[2]
    if _SESSION.fullmatch(parameter.name) and is_random(value):
        return by_path or by_words or by_number
    if not _is_ambiguous(parameter.name):
        return False
    is_label, is_referrer = _LABEL.fullmatch(value), _REFERRER.fullmatch(parameter.name)
    return by_path or bool((by_words and is_label) or (by_number and is_referrer))


@lru_cache(maxsize=4096)
def _is_ambiguous(name: str) -> bool:
    # courlan's list also matches names that only begin like a tracker's (gallery, reference), so these are ambiguous.
    return (
        _AMBIGUOUS.fullmatch(name) is not None
        or _REFERRER.fullmatch(name) is not None
        or courlan.normalize_url(f"http://a/?{name}=1").endswith("/")
    )
