"""The stories that were held back while the rules of the lineage were chosen. All invented."""

from tests.dedup.lineage.scenarios import Topic

TOPICS = (
    Topic(
        headline="Storm cuts power to {n} homes around {place}",
        core=(
            "A winter storm left {n} households around {place} without electricity on {day}.",
            "Gusts of {n3} knots broke {n2} masts on the ridge between {place} and {place2}.",
            "Crews of {org} worked through the night and had reconnected half of the homes by noon.",
            "The grid operator's spokesman, {person}, asked people to stay away from fallen lines.",
            "In {place2}, a roof of a sports hall was blown on to the railway, which stayed closed for {n4} hours.",
            "The weather service had warned of the storm three days ahead, but not of its strength.",
            "“Nobody here has seen trees snap like matches,” said forester {person2}.",
            "Insurers put the first claims at {money}.",
            "Schools in {n4} districts remained closed, and hospitals ran on generators.",
            "Opposition politicians demanded that the old overhead lines be put underground at last.",
            "Another front is expected at the weekend, though a weaker one.",
        ),
        takes=(
            "Candles sold out before the shops closed.",
            "When the lights went out, the village band had just begun its second piece.",
            "The silence afterwards was the worst, many people said.",
            "Whoever drove over the ridge this morning saw a forest lying down.",
            "It was a night that the old fire engine had not been built for.",
            "The storm had a name that made people smile, at first.",
        ),
    ),
    Topic(
        headline="Court in {place} frees {person} after {n4} years",
        core=(
            "A court in {place} on {day} quashed the conviction of {person}, who has spent {n4} years in prison.",
            "The judges held that a fibre found on a coat could not prove what the prosecution had claimed.",
            "{person} had been sentenced for the robbery of a {thing} shop in which {money} was taken.",
            "Two new experts testified that the fibre is sold in {n2} shops of the country.",
            "A witness withdrew her statement last {month} and said that she had been shown a single photograph.",
            "“I have learnt patience, and I would not recommend the school,” he said outside the building.",
            "His lawyer, {person2}, announced a claim for damages.",
            "The public prosecutor has {n3} days to appeal and left open whether he would.",
            "The case is the fourth within two years in which findings of the {org} laboratory were rejected.",
            "Parliament will debate on {day} whether old cases are to be reviewed.",
            "The laboratory did not answer a request for comment.",
        ),
        takes=(
            "His sister had kept the train ticket for his return in a kitchen drawer all that time.",
            "There was applause in the court room, and the presiding judge let it happen.",
            "The file fills eleven boxes; the decisive sheet was in the ninth.",
            "Rarely has a thread decided so much, and so little.",
            "What remains is the question of who did it.",
            "Free men walk slowly, it seems.",
        ),
    ),
    Topic(
        headline="{org} opens medicine centre in {place}",
        core=(
            "{org} has opened a centre for rare diseases in {place}, which will treat {n} patients a year.",
            "The building with {n2} beds cost {money} and was finished {n4} months ahead of time.",
            "Patients from {n3} countries have registered, said medical director {person}.",
            "“A diagnosis that took seven years can now take seven weeks,” {person} said at the ceremony on {day}.",
            "A sequencing unit on the ground floor reads {n3} genomes a week.",
            "Families can stay in {n2} rooms of the {thing} house across the garden.",
            "Three universities send students, and {n4} chairs have been endowed.",
            "Health minister {person2} praised the centre as a model for the whole country.",
            "The costs are borne by insurers under a contract that runs for {n3} years.",
            "{org} was founded as a charity and runs {n4} clinics.",
        ),
        takes=(
            "The smell of paint had not gone when the first child arrived.",
            "For the parents of {place}, the new house shortens a journey of many hours.",
            "Critics ask whether so much money for so few is well spent.",
            "A garden with a pond is meant to make waiting easier.",
            "General practitioners in the region learnt of the opening from the invitation.",
            "No one at the ceremony mentioned the two clinics that closed last year.",
        ),
        contact=(
            "About {org}",
            "For further information, contact our office: media@{slug}.example, telephone 0207 946 0{n2}.",
        ),
    ),
    Topic(
        headline="{place} beat {place2} in cup final on penalties",
        core=(
            "{place} won the cup on {day} for the first time in {n3} years, beating {place2} on penalties.",
            "Goalkeeper {person} saved three shots, the last one with his left foot.",
            "{place2} had taken the lead after {n4} minutes, when {person2} headed in a corner.",
            "The equaliser fell in the last minute of normal time from a free kick that was deflected twice.",
            "Some {n} people watched in the {thing} stadium, a record for a final.",
            "Coach Delphine Aumont, who took over in {month}, called it a victory of stubbornness.",
            "“We trained penalties for {n4} weeks and never scored as we did tonight,” she said.",
            "The winners receive {money} and a place in next season's international round.",
            "Police reported {n2} arrests, most of them for flares.",
            "A parade is planned from the railway station to the old market.",
            "The two sides meet again in the league in two weeks.",
        ),
        takes=(
            "At the end even the groundsmen were dancing.",
            "Finals are seldom beautiful, and this one did not try.",
            "Three dives, one cup: that is how short the story can be.",
            "The visiting fans stayed until the floodlights were turned off.",
            "It took a while until the engraver could begin.",
            "Nobody had written a speech for this case.",
        ),
    ),
)

LOCAL = (
    "Two volunteers from {town} were among those who helped.",
    "{person3} from {town} followed events on the radio all evening.",
    "The savings bank in {town} has opened an account for donations.",
    "In {town}, the reaction was mixed, as calls to our office showed.",
    "A former pastor of {town}, {person3}, spoke of a day to remember.",
    "The sports club of {town} moved its general meeting to {month}.",
    "The road between {town} and the coast is passable again, the district says.",
    "An exhibition of {n2} drawings by children opens in the library of {town}.",
    "The town clerk of {town} counted {n3} enquiries within a day.",
    "More on what this means for {town} can be read in our weekend edition.",
)

PERSONS = ("Edda Farrow", "Luis Tennant", "Maud Keller", "Igor Sands", "Celia Brandt", "Hugo Merle", "Ana Whitlock")
PERSONS += ("Piet Rowan", "Silvia Thorn", "Noah Eklund", "Petra Vale", "Ivan Locke", "Dora Hayes", "Emil Strand")
PLACES = ("Westerby", "Lochfield", "Port Amble", "Greyford", "Sundholm", "Ravenna Cross", "Tollbridge", "Hexwater")
ORGANISATIONS = ("Arbor Trust", "Linden Care", "Grid West", "Pallas Health", "Corvin Union", "Ostara Foundation")
THINGS = ("jewel", "Linden", "watch", "Meadow", "Citadel", "camera", "Orchard", "bicycle")
