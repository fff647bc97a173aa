"""The parameters that programs append to a URL when it is shared, sent or advertised; none of them names a story.

Each group names its source: who sets the parameters, and where that is documented. A name belongs here only if it is
documented, or is too odd to be chosen for a story's number; short and common words are in parameters.py, which looks at
the whole URL.
"""

import re

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
